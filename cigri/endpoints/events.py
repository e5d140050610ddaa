"""What went wrong in campaigns and on clusters, and that it is fixed."""

from typing import TYPE_CHECKING

from cigri.api_models.events import EventCounts, EventView, FixResult
from cigri.endpoints import Access, change_endpoint, read_endpoint
from cigri.endpoints.paging import BACKWARDS, PageLimit, require_limit
from cigri.endpoints.parameters import about
from cigri.errors import Forbidden, NotFound, UsageError
from cigri.formats.id_ranges import format_ids, read_ids
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.events import EventFilter

USUAL_EVENTS = 100


@read_endpoint("/events", Access.OWNER, BACKWARDS)
def events(
    conn: "Connection",
    caller: Caller,
    *,
    campaigns: str = "",
    ids: str = "",
    is_global: bool = False,
    with_closed: bool = False,
    before: int | None = None,
    limit: PageLimit = USUAL_EVENTS,
) -> list[EventView]:
    """The last ones of your campaigns, of those named (3,5-7), or (for everybody) `is_global` of clusters and grid."""
    from cigri.flow.views.events import list_events

    require_limit(limit)
    return list_events(conn, _chosen(conn, caller, campaigns, ids, is_global, with_closed), limit, before)


@read_endpoint("/events/count", Access.OWNER)
def event_counts(
    conn: "Connection",
    caller: Caller,
    *,
    campaigns: str = "",
    ids: str = "",
    is_global: bool = False,
    with_closed: bool = False,
) -> EventCounts:
    """How many there are of the same, and open ones of clusters and the grid."""
    from cigri.flow.views.events import EventFilter, count_events

    chosen = _chosen(conn, caller, campaigns, ids, is_global, with_closed)
    return EventCounts(count_events(conn, chosen), count_events(conn, EventFilter(caller, is_global=True)))


@change_endpoint("/events/fix", Access.OWNER)
def fix_events(
    conn: "Connection",
    caller: Caller,
    *,
    campaigns: str = "",
    ids: str = "",
    is_global: bool = False,
    resubmit: bool = False,
) -> FixResult:
    """Open events of campaigns (3,5-7), or of these numbers, are closed; with `resubmit` failed tasks are done again.

    Those of clusters and the grid (`is_global`) are closed by operators only; clusters are then visited at once.
    """
    from cigri.flow import event_fixes
    from cigri.flow.views.events import list_fixable
    from cigri.flow.views.failures import count_failed

    if not (campaigns or ids or is_global):
        raise UsageError("fix what? Name campaigns, or ids of events", "campaigns")
    if is_global and not caller.owns_all:
        raise Forbidden(f"events of clusters are fixed by operators only, and you are {caller.user}")
    choice = _chosen(conn, caller, campaigns, ids, is_global, False, is_to_change=True)
    chosen = list_fixable(conn, choice)
    if is_global:
        return FixResult(event_fixes.fix_global_events(conn, chosen, caller), {})
    fixed = event_fixes.fix_events(conn, chosen, caller, resubmit=resubmit)
    return FixResult(fixed, count_failed(conn, choice.campaign_ids) if resubmit and not fixed else {})


def _chosen(
    conn: "Connection",
    caller: Caller,
    campaigns: str,
    ids: str,
    is_global: bool,
    with_closed: bool,
    *,
    is_to_change: bool = False,
) -> "EventFilter":
    """What was named must be there, or it is a complaint, not an empty list; one that is named may be closed."""
    from cigri.flow.views.events import EventFilter, list_missing, require_own, require_seen

    if is_global and campaigns:
        raise UsageError("events of clusters and the grid belong to no campaign", "campaigns")
    with about("campaigns"):
        campaign_ids = read_ids(campaigns) if campaigns else []
    with about("ids"):
        event_ids = read_ids(ids) if ids else []
    (require_own if is_to_change else require_seen)(conn, campaign_ids, caller)
    choice = EventFilter(caller, campaign_ids, event_ids, is_global, with_closed or bool(event_ids), is_to_change)
    if missing := list_missing(conn, choice):
        why = "it is no event of the grid" if is_global else "you have no such event"
        lists = f"`gridevents{' --global' if is_global else ''}` lists them"
        raise NotFound(f"event {format_ids(missing)}: {why}; {lists}")
    return choice
