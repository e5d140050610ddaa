"""What operators do on the page of a cluster: enable, disable and drain it, and its nodes."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import Request
from starlette.responses import Response

from cigri.endpoints import Endpoint
from cigri.endpoints.cluster_changes import (
    admit_nodes,
    disable_cluster,
    drain_cluster,
    drain_nodes,
    enable_cluster,
    undrain_cluster,
)
from cigri.errors import NotFound, UsageError
from modules.portal.parameter_limits import PlainText
from modules.portal.rendering.page_renderer import see
from modules.portal.rendering.page_router import PageForm, PageRouter, Site

CHANGES_OF_CLUSTER: Mapping[str, Endpoint[..., Any]] = {
    "enable": enable_cluster,
    "disable": disable_cluster,
    "undrain": undrain_cluster,
}


cluster_change_pages = PageRouter()


@cluster_change_pages.form("/clusters/{name}/drain")
def drain(site: Site, request: Request, name: PlainText, form: PageForm) -> Response:
    """Drain a cluster."""
    grid = site.grid(site.changing(request, form))
    by, keep = form.get("by", "").strip(), read_whole(form, "keep") or 0
    grid.call(drain_cluster, cluster=name, by=by, kill="kill" in form, keep=keep)
    return _see_cluster(name)


@cluster_change_pages.form("/clusters/{name}/nodes/drain")
def drain_some(site: Site, request: Request, name: PlainText, form: PageForm) -> Response:
    """Drain some nodes of a cluster."""
    grid = site.grid(site.changing(request, form))
    by, nodes = form.get("by", "").strip(), form.get("nodes", "").replace(",", " ").split()
    grid.call(drain_nodes, cluster=name, nodes=nodes, by=by)
    return _see_cluster(name)


@cluster_change_pages.form("/clusters/{name}/nodes/admit")
def admit(site: Site, request: Request, name: PlainText, form: PageForm) -> Response:
    """Let an excluded node get jobs again."""
    grid = site.grid(site.changing(request, form))
    grid.call(admit_nodes, cluster=name, nodes=[form.get("node", "")])
    return _see_cluster(name)


@cluster_change_pages.form("/clusters/{name}/{action}")
def change_cluster(site: Site, request: Request, name: PlainText, action: str, form: PageForm) -> Response:
    """Enable or disable a cluster, or end its drain."""
    grid = site.grid(site.changing(request, form))
    if action not in CHANGES_OF_CLUSTER:
        raise NotFound(f"nothing is called {action} that may be done to a cluster")
    grid.call(CHANGES_OF_CLUSTER[action], cluster=name)
    return _see_cluster(name)


def read_whole(form: Mapping[str, str], field: str) -> int | None:
    """Return a whole number of a form, None where the field is empty; raise UsageError."""
    text = form.get(field, "").strip()
    try:
        return int(text) if text else None
    except ValueError:
        raise UsageError(f"{field.replace('_', ' ')}: {text[:60]!r} is no whole number") from None


def _see_cluster(name: str) -> Response:
    return see(f"/clusters/{quote(name, safe='')}")
