"""The operators' page of quotas: what is declared, what is used of it, and a form that declares more."""

from typing import Annotated

from fastapi import Depends, FastAPI, Request
from starlette.responses import Response

from cigri.eligibility.quotas import ALL, TYPES, QuotaRule
from cigri.endpoints.clusters import clusters
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import quotas, remove_quota, set_quota
from cigri.errors import UsageError
from modules.portal.pages.cluster_changes import read_whole
from modules.portal.rendering.page_renderer import PageRenderer, add_page, read_form, see

QUOTAS_PAGE = "/operator/quotas"
RULE_FIELDS = {"queue": "queue", "project": "project", "user": "user"}
"""Parts of a rule that are written; its type is chosen."""
QuotaForm = Annotated[dict[str, str], Depends(read_form)]


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/operator/quotas, and what its forms are sent to."""

    def quotas_page(request: Request) -> Response:
        caller = site.visitor(request)
        with site.grid(caller).snapshot() as grid:
            declared = walk(grid, quotas)
            names = [status.cluster.name for status in walk(grid, clusters)]
        return site.show(
            request, "quotas.html", caller, quotas=declared, clusters=names, types=TYPES, fields=RULE_FIELDS, all=ALL
        )

    def declare_quota(request: Request, form: QuotaForm) -> Response:
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

    def drop_quota(request: Request, form: QuotaForm) -> Response:
        grid = site.grid(site.changing(request, form))
        grid.call(remove_quota, rule=form.get("rule", ""), cluster=form.get("cluster", ""))
        return see(QUOTAS_PAGE)

    add_page(app, QUOTAS_PAGE, "GET", quotas_page)
    add_page(app, QUOTAS_PAGE, "POST", declare_quota)
    add_page(app, f"{QUOTAS_PAGE}/remove", "POST", drop_quota)


def _rule(form: dict[str, str]) -> QuotaRule:
    """All jobs, where a field is empty."""
    queue, project, kind, user = (form.get(name, "").strip() or ALL for name in ("queue", "project", "type", "user"))
    return QuotaRule.parse(",".join((queue, project, kind, user)))


def _read_hours(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise UsageError(f"core-hours: {text[:60]!r} is no number") from None
