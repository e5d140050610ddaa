"""How campaigns stand."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from cigri.api_models.campaigns import (
    MOST_CELLS,
    CampaignClusterStatus,
    CampaignClusterView,
    CampaignDetail,
    CampaignView,
    ClusterTestAttempt,
    ReplicaStatistics,
    TaskStripCell,
)
from cigri.api_models.failures import ErrorView, FailureGroup
from cigri.endpoints import Access, read_endpoint, with_settings
from cigri.endpoints.paging import FORWARDS, PageLimit, require_limit
from cigri.endpoints.parameters import NumberBounds, about
from cigri.endpoints.read_cache import instant_of, once_an_instant, while_unchanged
from cigri.errors import NotFound, UsageError
from cigri.estimates.calibration import calibration
from cigri.formats.id_ranges import read_ids
from cigri.identity.callers import Caller
from cigri.presentation.cluster_tests import results_of
from cigri.presentation.failure_groups import failure_group, group_failures
from cigri.presentation.run_status import run_status
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.settings.sections import Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_FAILURES = 10_000
USUAL_PAGE = 1000  # campaigns
MOST_ENDED_DAYS = 3650
EndedDays = Annotated[int, NumberBounds(0, MOST_ENDED_DAYS)]
CLOSED_WORD, HELD_WORD = "ended", "held"
CLOSED_CAMPAIGNS = tuple(state for state in CampaignState if state not in OPEN_CAMPAIGNS)


@read_endpoint("/campaigns", Access.EVERYBODY, FORWARDS)
@with_settings
def campaigns(
    conn: "Connection",
    _caller: Caller,
    settings: "Settings",
    *,
    ids: str = "",
    user: str = "",
    with_ended: bool = False,
    name: str = "",
    project: str = "",
    state: str = "",
    ended_within: EndedDays = 0,
    order: str = "id",
    after: int = 0,
    limit: PageLimit = USUAL_PAGE,
) -> list[CampaignView]:
    """Those named (3,5-7), or all open ones, with those that have ended, too; only those of a user.

    Ended ones that are forgotten are listed only where they are named. Of these, those whose names have `name` in
    them, of a `project`, in a `state` ("held": open and held as a whole; "ended": closed, however), that ended in the
    last so many days. `order`: id, name, project, state or user, backwards with a minus before it.
    """
    from cigri.flow.views.campaign_search import CampaignSearch
    from cigri.flow.views.campaigns import list_campaigns

    require_limit(limit)
    states = OPEN_CAMPAIGNS if state == HELD_WORD else _states(state)
    _require_project(conn, project)
    within = timedelta(days=_days(ended_within)) if ended_within else None
    order, is_descending = _known_order(order), order.startswith("-")
    search = CampaignSearch(name, project, states, within, order, is_descending, is_held=state == HELD_WORD)
    return list_campaigns(
        conn,
        _read_ids(ids),
        user=user,
        with_ended=with_ended or bool(states) or within is not None,
        default_scheduler=settings.policy.scheduler,
        search=search,
        after=after,
        limit=limit,
    )


def _read_ids(ids: str) -> list[int] | None:
    with about("ids"):
        return read_ids(ids) if ids else None


def _states(state: str) -> tuple[CampaignState, ...]:
    if state == CLOSED_WORD:
        return CLOSED_CAMPAIGNS
    try:
        return (CampaignState(state),) if state else ()
    except ValueError:
        known = ", ".join((*CampaignState, HELD_WORD, CLOSED_WORD))
        raise UsageError(f"state {state!r}: no campaign is ever in it; there are {known}", "state") from None


def _known_order(order: str) -> str:
    from cigri.flow.views.campaign_search import CAMPAIGN_ORDERS

    if order.removeprefix("-") not in CAMPAIGN_ORDERS:
        known = ", ".join(CAMPAIGN_ORDERS)
        raise UsageError(f"order {order!r}: campaigns are sorted by {known}, backwards with a -", "order")
    return order.removeprefix("-")


def _days(number: int) -> int:
    if not 0 < number <= MOST_ENDED_DAYS:
        raise UsageError(f"ended_within {number}: it is a number of days, 1 to {MOST_ENDED_DAYS}", "ended_within")
    return number


def _require_project(conn: "Connection", name: str) -> None:
    from cigri.flow.views.campaign_search import has_project

    if name and not has_project(conn, name):
        raise NotFound(f"there is no project {name!r}")


@read_endpoint("/campaigns/{campaign_id}", Access.EVERYBODY_IN_PART)
@with_settings
def campaign(conn: "Connection", caller: Caller, settings: "Settings", *, campaign_id: int) -> CampaignDetail:
    """A campaign with each of its clusters, and how its tasks failed; what they wrote is for its owner."""
    from cigri.flow.forecasts import list_told
    from cigri.flow.views.dependencies import list_after

    found, now, usual = find_campaign(conn, campaign_id), instant_of(conn), settings.policy.scheduler
    found = found._replace(served_by=found.served_by or usual)
    intervals, parts = list_told(conn, [campaign_id]), list_shares(conn, caller, found)
    return CampaignDetail(
        campaign=found,
        calibration=calibration(intervals),
        intervals=len(intervals),
        default_scheduler=usual,
        clusters=[CampaignClusterStatus(part, run_status(found, part, now, settings)) for part in parts],
        failures=list_kinds(conn, caller, found),
        tests=results_of(found, parts, _tried(conn, caller, found), now, settings),
        after=list_after(conn, campaign_id),
        files_until=_files_until(conn, found, settings.history.purge_after),
    )


@read_endpoint("/campaigns/{campaign_id}/replicas", Access.EVERYBODY)
def replicas(conn: "Connection", _caller: Caller, *, campaign_id: int) -> ReplicaStatistics:
    """How often the last tasks of a campaign were replicated; nothing is known of it once it is archived."""
    from cigri.flow.views.replica_statistics import count_replicas

    find_campaign(conn, campaign_id)
    return count_replicas(conn, campaign_id)


@read_endpoint("/campaigns/{campaign_id}/failures", Access.EVERYBODY_IN_PART, most_rows=MOST_FAILURES)
def failures(conn: "Connection", caller: Caller, *, campaign_id: int) -> list[FailureGroup]:
    """How tasks of a campaign failed, those that failed alike together; what they wrote is for its owner."""
    return list_kinds(conn, caller, find_campaign(conn, campaign_id))


@read_endpoint("/errors", Access.EVERYBODY_IN_PART, FORWARDS)
def errors(
    conn: "Connection", caller: Caller, *, ids: str = "", user: str = "", after: int = 0, limit: PageLimit = USUAL_PAGE
) -> list[ErrorView]:
    """What is to be fixed in the campaigns named (3,5-7), or in all; what the messages quote is for the owners."""
    from cigri.flow.views.campaigns import list_errors

    require_limit(limit)
    told = list_errors(conn, _read_ids(ids), user=user, after=after, limit=limit)
    return [error if caller.sees(error.user) else error._replace(message="") for error in told]


@once_an_instant
def find_campaign(conn: "Connection", campaign_id: int) -> CampaignView:
    """Raise NotFound where there is none; `served_by` is empty where it is the scheduler that the settings name."""
    from cigri.flow.views.campaigns import find_one_campaign

    found = find_one_campaign(conn, campaign_id, default_scheduler="")
    if found is None:
        raise NotFound(f"no campaign {campaign_id}; `gridstat -a` lists all")
    return found


def list_shares(conn: "Connection", caller: Caller, of: CampaignView) -> list[CampaignClusterView]:
    """The campaign on each of its clusters, as this caller may see it."""
    parts = _parts(conn, of.id)
    return parts if caller.sees(of.user) else [part._replace(why=None) for part in parts]


@once_an_instant
def _parts(conn: "Connection", campaign_id: int) -> list[CampaignClusterView]:
    from cigri.flow.views.campaigns import list_parts

    return list_parts(conn, [campaign_id])


def list_kinds(conn: "Connection", caller: Caller, of: CampaignView) -> list[FailureGroup]:
    """How its last tasks failed; others than the owner are not told what the tasks wrote."""
    from cigri.flow.views.failures import find_last_event

    if not of.failed:
        return []
    sees, mark = caller.sees(of.user), (of.failed, find_last_event(conn, of.id))
    return while_unchanged(conn, (list_kinds, of.id, sees), mark, lambda: _kinds(conn, of.id, sees=sees))


def _kinds(conn: "Connection", campaign_id: int, *, sees: bool) -> list[FailureGroup]:
    from cigri.flow.views.failures import list_failures

    failed = list_failures(conn, campaign_id, MOST_FAILURES)
    if not sees:
        failed = [failure._replace(said="") for failure in failed]
    return [failure_group(failures) for failures in group_failures(failed)]


def _files_until(conn: "Connection", of: CampaignView, purge_after: float) -> datetime | None:
    from cigri.flow.views.outputs import find_purged

    if of.ended_at is None or find_purged(conn, of.id) is not None:
        return None
    return of.ended_at + timedelta(days=purge_after)


def _tried(conn: "Connection", caller: Caller, of: CampaignView) -> list[ClusterTestAttempt]:
    from cigri.flow.views.clusters import list_tried

    tried = list_tried(conn, of.id) if of.type is CampaignType.TEST else []
    return tried if caller.sees(of.user) else [cluster._replace(said=None) for cluster in tried]


# All tasks of a campaign at a glance; everybody sees how campaigns stand.


@read_endpoint("/campaigns/{campaign_id}/strip", Access.EVERYBODY, most_rows=MOST_CELLS)
def strip(
    conn: "Connection", _caller: Caller, *, campaign_id: int, first: int = 0, last: int | None = None
) -> list[TaskStripCell]:
    """Tasks of a campaign, all or those of these numbers, in at most 1000 cells, with their numbers by state."""
    from cigri.flow.views.strips import list_cells

    end = find_campaign(conn, campaign_id).total - 1
    last = end if last is None else min(last, end)
    if first < 0 or first > max(0, last):
        numbers = f"the tasks of campaign {campaign_id} have the numbers 0 to {end}, in order"
        raise UsageError(f"first {first}: {numbers}", "first")
    return list_cells(conn, campaign_id, first, last)
