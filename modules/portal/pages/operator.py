"""The operator's page: whether the grid is at work, its modules, what is wrong with it, and who changed what."""

from fastapi import Request
from starlette.responses import Response

from cigri.endpoints.audit import audit_trail
from cigri.endpoints.events import events
from cigri.endpoints.health import checks
from cigri.endpoints.metrics import figures
from modules.portal.health import what_lacks
from modules.portal.pages.audit import change_rows
from modules.portal.rendering.page_router import PageRouter, Site

MOST_FINDINGS, LAST_CHANGES = 20, 10


operator_pages = PageRouter()


@operator_pages.page("/operator")
def operator_page(site: Site, request: Request) -> Response:
    """Show how the grid is, to those for whom the audit trail is."""
    caller = site.visitor(request)
    grid = site.grid(caller)
    trail = grid.call(audit_trail, limit=LAST_CHANGES)
    return site.show(
        request,
        "operator.html",
        caller,
        lack=what_lacks(site.database),
        figures=grid.call(figures),
        checkup=grid.call(checks),
        findings=grid.call(events, is_global=True, limit=MOST_FINDINGS)[::-1],
        changes=change_rows(trail[::-1]),
    )
