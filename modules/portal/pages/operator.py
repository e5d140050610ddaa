"""The operator's page: whether the grid is at work, its modules, what is wrong with it, and who changed what."""

import json

from fastapi import FastAPI, Request
from starlette.responses import Response

from cigri.api_models.changes import AuditEntry
from cigri.endpoints.audit import audit_trail
from cigri.endpoints.events import events
from cigri.endpoints.health import checks
from cigri.endpoints.metrics import figures
from modules.portal.health import what_lacks
from modules.portal.parameter_limits import PlainNumber
from modules.portal.rendering.page_renderer import PageRenderer, add_page

MOST_FINDINGS, MOST_CHANGES = 20, 50
LONGEST_ASKED = 300  # characters


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/operator, with ?before=ID for changes before that one; for whom the audit trail is."""

    def operator_page(request: Request, before: PlainNumber | None = None) -> Response:
        caller = site.visitor(request)
        grid = site.grid(caller)
        trail = grid.call(audit_trail, before=before, limit=MOST_CHANGES)
        return site.show(
            request,
            "operator.html",
            caller,
            lack=what_lacks(site.database),
            figures=grid.call(figures),
            checkup=grid.call(checks),
            findings=grid.call(events, is_global=True, limit=MOST_FINDINGS)[::-1],
            trail=[(entry, _asked(entry)) for entry in reversed(trail)],
            before=before,
            older=trail[0].id if len(trail) == MOST_CHANGES else None,
        )

    add_page(app, "/operator", "GET", operator_page)


def _asked(entry: AuditEntry) -> str:
    text = json.dumps(entry.asked, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_ASKED else f"{text[:LONGEST_ASKED]}…"
