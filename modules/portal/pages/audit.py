"""The operators' page of the audit trail: who changed what, found by user, change and words."""

import json
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.changes import AuditEntry
from cigri.endpoints import list_endpoints
from cigri.endpoints.audit import audit_trail
from cigri.endpoints.dispatch import InProcessClient
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.page_router import PageRouter, Site

SHOWN_CHANGES, TRAIL_AT_ONCE = 50, 1000
MOST_TRAIL_PAGES = 20  # pages of the trail that one search looks through
LONGEST_ASKED = 300  # characters of one parameter


class AuditQuery(NamedTuple):
    """What the address asks for, and the form shows; `change`: the name of an endpoint, `words`: in its parameters."""

    user: str
    change: str
    words: str

    @property
    def is_filtered(self) -> bool:
        """Is anything asked for?"""
        return any(self)

    def is_met(self, entry: AuditEntry) -> bool:
        """Is it what is asked for? Words are found in any case."""
        return (
            (not self.user or entry.user == self.user)
            and (not self.change or entry.endpoint == self.change)
            and self.words.lower() in _parameters(entry).lower()
        )

    def address(self, before: int) -> str:
        """Where the search goes on."""
        asked = {name: value for name, value in self._asdict().items() if value}
        return f"/operator/audit?{urlencode({**asked, 'before': before})}"


class FoundChanges(NamedTuple):
    """Changes, the last one first; `before`: where the search goes on, None: at the beginning of the trail."""

    entries: list[AuditEntry]
    before: int | None


class ChangeRow(NamedTuple):
    """A change as it is told; `asked`: its parameters by name, `campaign`: the one that it is about."""

    entry: AuditEntry
    asked: list[tuple[str, str]]
    campaign: int | None


audit_pages = PageRouter()


@audit_pages.page("/operator/audit")
def audit_page(
    site: Site,
    request: Request,
    user: PlainText = "",
    change: PlainText = "",
    words: PlainText = "",
    before: PlainNumber | None = None,
) -> Response:
    """Show the changes that `user`, `change` and `words` choose, and of them those before the one numbered `before`."""
    caller = site.visitor(request)
    query = AuditQuery(user.strip(), change, words.strip())
    found = find_changes(site.grid(caller), query, before)
    return site.show(
        request,
        "audit.html",
        caller,
        query=query,
        rows=change_rows(found.entries),
        next=None if found.before is None else query.address(found.before),
        is_full=len(found.entries) == SHOWN_CHANGES,
        before=before,
        changes=sorted(endpoint.name for endpoint in list_endpoints() if endpoint.method == "POST"),
    )


def find_changes(grid: InProcessClient, query: AuditQuery, before: int | None) -> FoundChanges:
    """A page of those that are asked for, of as much of the trail as one search looks through."""
    limit = TRAIL_AT_ONCE if query.is_filtered else SHOWN_CHANGES + 1
    found: list[AuditEntry] = []
    for _ in range(MOST_TRAIL_PAGES):
        read = grid.call(audit_trail, before=before, limit=limit)
        found += filter(query.is_met, reversed(read))
        if len(found) > SHOWN_CHANGES:
            return FoundChanges(found[:SHOWN_CHANGES], found[SHOWN_CHANGES - 1].id)
        if len(read) < limit:
            return FoundChanges(found, None)
        before = read[0].id
    return FoundChanges(found, before)


def change_rows(entries: Iterable[AuditEntry]) -> list[ChangeRow]:
    """Without parameters that say nothing."""
    return [
        ChangeRow(
            entry,
            [
                (name, _value(value))
                for name, value in entry.asked.items()
                if value not in ("", []) and value is not None and value is not False
            ],
            campaign if isinstance(campaign := entry.asked.get("campaign_id"), int) else None,
        )
        for entry in entries
    ]


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_ASKED else f"{text[:LONGEST_ASKED]}…"


def _parameters(entry: AuditEntry) -> str:
    return json.dumps(entry.asked, ensure_ascii=False, default=str)
