"""The page of events: what went wrong in campaigns, on clusters and in the grid, and what to do about it."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from fastapi import Depends, FastAPI, Request
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
from modules.portal.rendering.page_renderer import PageRenderer, add_page, read_form, see

MEANINGS_OF_CODES = CODES_OF_CAMPAIGNS | OF_THE_GRID
MOST_EVENT_RANGES = 8
GRID = "grid"
MARK_FIELD = "mark-"
"""How the fields begin that hold the events which are marked."""
FixForm = Annotated[dict[str, str], Depends(read_form)]


class EventRow(NamedTuple):
    """An event, or failures that are alike, of which it is the last."""

    last: EventView
    number: int
    ids: str
    tasks: str
    means: str
    exit_means: str
    is_failure: bool


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/events, with ?of=grid, ?campaigns=3,5-7, ?closed=1, ?before=ID; and what its forms are sent to."""

    def events_page(
        request: Request,
        of: Literal["campaigns", "grid"] = "campaigns",
        campaigns: PlainText = "",
        closed: bool = False,
        before: PlainNumber | None = None,
    ) -> Response:
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

    def fix(request: Request, form: FixForm) -> Response:
        grid = site.grid(site.changing(request, form))
        ids = form.get("ids") or ",".join(value for name, value in form.items() if name.startswith(MARK_FIELD))
        if not ids:
            raise UsageError("no event is marked: mark some, or close all of the page")
        done = grid.call(fix_events, ids=ids, is_global=form.get("of") == GRID, resubmit="resubmit" in form)
        if not done.fixed:
            raise CigriError("nothing was closed: somebody has closed it before; look at the events anew")
        return see(f"/events?{request.url.query}")

    add_page(app, "/events", "GET", events_page)
    add_page(app, "/events/fix", "POST", fix)


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
