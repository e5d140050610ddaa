"""What operators do on the page of a cluster: enable, disable and drain it, and its nodes."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, FastAPI, Request
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
from modules.portal.rendering.page_renderer import PageRenderer, add_page, read_form, see

CHANGES_OF_CLUSTER: Mapping[str, Endpoint[..., Any]] = {
    "enable": enable_cluster,
    "disable": disable_cluster,
    "undrain": undrain_cluster,
}
ClusterForm = Annotated[dict[str, str], Depends(read_form)]


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """What the forms of /clusters/NAME are sent to."""

    def change_cluster(request: Request, name: PlainText, action: str, form: ClusterForm) -> Response:
        grid = site.grid(site.changing(request, form))
        if action not in CHANGES_OF_CLUSTER:
            raise NotFound(f"nothing is called {action} that may be done to a cluster")
        grid.call(CHANGES_OF_CLUSTER[action], cluster=name)
        return _see_cluster(name)

    def drain(request: Request, name: PlainText, form: ClusterForm) -> Response:
        grid = site.grid(site.changing(request, form))
        by, keep = form.get("by", "").strip(), read_whole(form, "keep") or 0
        grid.call(drain_cluster, cluster=name, by=by, kill="kill" in form, keep=keep)
        return _see_cluster(name)

    def drain_some(request: Request, name: PlainText, form: ClusterForm) -> Response:
        grid = site.grid(site.changing(request, form))
        by, nodes = form.get("by", "").strip(), form.get("nodes", "").replace(",", " ").split()
        grid.call(drain_nodes, cluster=name, nodes=nodes, by=by)
        return _see_cluster(name)

    def admit(request: Request, name: PlainText, form: ClusterForm) -> Response:
        grid = site.grid(site.changing(request, form))
        grid.call(admit_nodes, cluster=name, nodes=[form.get("node", "")])
        return _see_cluster(name)

    add_page(app, "/clusters/{name}/drain", "POST", drain)
    add_page(app, "/clusters/{name}/nodes/drain", "POST", drain_some)
    add_page(app, "/clusters/{name}/nodes/admit", "POST", admit)
    add_page(app, "/clusters/{name}/{action}", "POST", change_cluster)


def read_whole(form: Mapping[str, str], field: str) -> int | None:
    """Return a whole number of a form, None where the field is empty; raise UsageError."""
    text = form.get(field, "").strip()
    try:
        return int(text) if text else None
    except ValueError:
        raise UsageError(f"{field.replace('_', ' ')}: {text[:60]!r} is no whole number") from None


def _see_cluster(name: str) -> Response:
    return see(f"/clusters/{quote(name, safe='')}")
