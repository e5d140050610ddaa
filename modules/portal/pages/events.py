"""The page of events: what went wrong in campaigns, on clusters and in the grid, and what to do about it."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.events import EventView
from cigri.endpoints.events import USUAL_EVENTS, event_counts, events, fix_events
from cigri.errors import CigriError, UsageError
from cigri.formats.id_ranges import as_ranges, format_ids
from cigri.identity.callers import AccessScope, Caller
from cigri.lifecycle.task_failures import TASK_FAILED
from cigri.presentation.event_codes import CODES_OF_CAMPAIGNS, OF_THE_GRID
from cigri.presentation.exit_codes import explain
from cigri.presentation.gathered_failures import group_events
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.page_renderer import see
from modules.portal.rendering.page_router import PageForm, PageRouter, Site

MEANINGS_OF_CODES = CODES_OF_CAMPAIGNS | OF_THE_GRID
MOST_EVENT_RANGES = 8
GRID = "grid"
MARK_FIELD = "mark-"
"""How the fields begin that hold the events which are marked."""


class EventRow(NamedTuple):
    """An event, or failures that are alike, of which it is the last."""

    last: EventView
    number: int
    ids: str
    tasks: str
    means: str
    exit_means: str
    is_failure: bool


event_pages = PageRouter()


@event_pages.page("/events")
def events_page(
    site: Site,
    request: Request,
    of: Literal["campaigns", "grid"] = "campaigns",
    campaigns: PlainText = "",
    closed: bool = False,
    before: PlainNumber | None = None,
) -> Response:
    """List events of campaigns or, with `of=grid`, of the grid; older ones with `before`."""
    caller = site.visitor(request)
    grid, is_global = site.grid(caller), of == GRID
    listed = grid.call(events, campaigns=campaigns, is_global=is_global, with_closed=closed, before=before)
    entries = [_shown(alike) for alike in reversed(group_events(listed))]
    still_open = [entry for entry in entries if not entry.last.closed_at]
    return site.show(
        request,
        "events.html",
        caller,
        entries=entries,
        open_entries=len(still_open),
        all_open=",".join(entry.ids for entry in still_open),
        counts=grid.call(event_counts, campaigns=campaigns, is_global=is_global, with_closed=closed),
        is_global=is_global,
        campaigns=campaigns,
        with_closed=closed,
        may_fix=_may_fix(caller, is_global),
        query=request.url.query,
        older=listed[0].id if len(listed) == USUAL_EVENTS else None,
    )


@event_pages.form("/events/fix")
def fix(site: Site, request: Request, form: PageForm) -> Response:
    """Close the events that are marked, or all of the page."""
    grid = site.grid(site.changing(request, form))
    ids = form.get("ids") or ",".join(value for name, value in form.items() if name.startswith(MARK_FIELD))
    if not ids:
        raise UsageError("no event is marked: mark some, or close all of the page")
    done = grid.call(fix_events, ids=ids, is_global=form.get("of") == GRID, resubmit="resubmit" in form)
    if not done.fixed:
        raise CigriError("nothing was closed: somebody has closed it before; look at the events anew")
    return see(f"/events?{request.url.query}")


def _shown(alike: Sequence[EventView]) -> EventRow:
    last = alike[-1]
    return EventRow(
        last,
        len(alike),
        format_ids([event.id for event in alike]),
        as_ranges(sorted(event.task for event in alike if event.task is not None), MOST_EVENT_RANGES),
        MEANINGS_OF_CODES.get(last.code, ""),
        explain(last.exit_code) or "",
        last.code == TASK_FAILED,
    )


def _may_fix(caller: Caller, is_global: bool) -> bool:
    """Whether it is offered; whose campaign it is, the endpoint looks up."""
    return caller.owns_all if is_global else caller.scope.allows(AccessScope.SUBMIT)
