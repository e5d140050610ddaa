"""The operators' page of quotas: what is declared, what is used of it, and a form that declares more."""

from fastapi import Request
from starlette.responses import Response

from cigri.eligibility.quotas import ALL, TYPES, QuotaRule
from cigri.endpoints.clusters import clusters
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import quotas, remove_quota, set_quota
from cigri.errors import UsageError
from modules.portal.pages.cluster_changes import read_whole
from modules.portal.rendering.page_renderer import see
from modules.portal.rendering.page_router import PageForm, PageRouter, Site

QUOTAS_PAGE = "/operator/quotas"
RULE_FIELDS = {"queue": "queue", "project": "project", "user": "user"}
"""Parts of a rule that are written; its type is chosen."""

quota_pages = PageRouter()


@quota_pages.page(QUOTAS_PAGE)
def quotas_page(site: Site, request: Request) -> Response:
    """Show what is declared, and the form for more."""
    caller = site.visitor(request)
    with site.grid(caller).snapshot() as grid:
        declared = walk(grid, quotas)
        names = [status.cluster.name for status in walk(grid, clusters)]
    return site.show(
        request, "quotas.html", caller, quotas=declared, clusters=names, types=TYPES, fields=RULE_FIELDS, all=ALL
    )


@quota_pages.form(QUOTAS_PAGE)
def declare_quota(site: Site, request: Request, form: PageForm) -> Response:
    """Declare a quota."""
    grid = site.grid(site.changing(request, form))
    grid.call(
        set_quota,
        rule=str(_rule(form)),
        cluster=form.get("cluster", ""),
        cores=read_whole(form, "cores"),
        jobs=read_whole(form, "jobs"),
        core_hours=_read_hours(form.get("core_hours", "").strip()),
        within=read_whole(form, "days"),
    )
    return see(QUOTAS_PAGE)


@quota_pages.form(f"{QUOTAS_PAGE}/remove")
def drop_quota(site: Site, request: Request, form: PageForm) -> Response:
    """Remove a quota."""
    grid = site.grid(site.changing(request, form))
    grid.call(remove_quota, rule=form.get("rule", ""), cluster=form.get("cluster", ""))
    return see(QUOTAS_PAGE)


def _rule(form: dict[str, str]) -> QuotaRule:
    """All jobs, where a field is empty."""
    queue, project, kind, user = (form.get(name, "").strip() or ALL for name in ("queue", "project", "type", "user"))
    return QuotaRule.parse(",".join((queue, project, kind, user)))


def _read_hours(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise UsageError(f"core-hours: {text[:60]!r} is no number") from None
