"""Which clusters there are, how full they are and were, and what their queues have."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from cigri.api_models.clusters import (
    ClusterDayReport,
    ClusterStatus,
    ClusterUsagePeriod,
    ClusterView,
    NodeClassView,
    NodePropertyView,
    QueueProperties,
)
from cigri.api_models.jobs import ClusterJobView
from cigri.endpoints import Access, read_endpoint, with_settings
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import AFTER, FORWARDS, LONGEST_PAGE, USUAL_ROWS, PageLimit, Pagination, require_limit
from cigri.endpoints.parameters import NumberBounds
from cigri.errors import NotFound, RequirementError, UsageError
from cigri.identity.callers import Caller
from cigri.requirements import Kinds, Requirement, judge_all

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.queues import QueueView
    from cigri.settings.sections import Settings

LONGEST_PAST = 100_000.0  # hours
PastHours = Annotated[float, NumberBounds(0, LONGEST_PAST, is_above=True)]
PERIODS = 24  # of a past, whatever its length
A_DAY, DAY_PERIOD = timedelta(days=1), timedelta(minutes=15)
USAGE_BY = KeyPagination("cluster_usage", {"cluster": str, "at": datetime})
PROPERTIES_BY = KeyPagination("properties", {"cluster": str, "queue": str})


@read_endpoint("/clusters", Access.EVERYBODY, Pagination(AFTER, "cluster.id"))
def clusters(
    conn: "Connection",
    _caller: Caller,
    *,
    names: list[str] | None = None,
    after: int = 0,
    limit: PageLimit = USUAL_ROWS,
) -> list[ClusterStatus]:
    """All, or those named by name or number: state, cores, our jobs, and the configuration but for secrets."""
    from cigri.presentation.cluster_status import status_of

    require_limit(limit)
    behind = [cluster for cluster in _named(conn, names) if cluster.id > after]
    return [status_of(cluster) for cluster in behind[:limit]]


@read_endpoint("/clusters/hours", Access.EVERYBODY, most_rows=LONGEST_PAGE)
@with_settings
def cluster_hours(
    conn: "Connection", _caller: Caller, settings: "Settings", *, names: list[str] | None = None
) -> dict[str, str]:
    """By cluster, whether it is within the hours that its operator has declared."""
    from cigri.flow.views.campaigns import grid_time
    from cigri.presentation.cluster_status import within_hours

    now = grid_time(conn)
    return {cluster.name: within_hours(cluster, settings.hours, now) for cluster in _at_once(_named(conn, names))}


@read_endpoint("/clusters/usage", Access.EVERYBODY, USAGE_BY)
def cluster_usage(
    conn: "Connection",
    _caller: Caller,
    *,
    names: list[str] | None = None,
    hours: PastHours = 24.0,
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[ClusterUsagePeriod]:
    """How full they were in the last hours, as the mean of each 24th of them."""
    from cigri.flow.views.clusters import list_usage

    if not 0 < hours <= LONGEST_PAST:
        raise UsageError(f"hours {hours}: a number above 0, {LONGEST_PAST:.0f} at most", "hours")
    past = timedelta(hours=hours)
    since = USAGE_BY.read(after)
    chosen = [cluster.id for cluster in _named(conn, names) if since is None or cluster.name >= since[0]]
    usage = list_usage(conn, chosen, past, past / PERIODS, since[1] if since else None)
    return page_of(usage, USAGE_BY, after, limit)


@read_endpoint("/clusters/{cluster}/day", Access.EVERYBODY)
def cluster_day(conn: "Connection", _caller: Caller, *, cluster: str) -> ClusterDayReport:
    """One, named by name or number, and how full it was in the last 24 hours, by quarters of an hour."""
    from cigri.flow.remote_command_counts import sessions_on
    from cigri.flow.views.clusters import list_usage
    from cigri.flow.views.heartbeats import read_heartbeats
    from cigri.presentation.cluster_status import status_of

    found = _named(conn, [cluster])[0]
    sessions = sessions_on(conn, found.id) if read_heartbeats(conn).has_almighty else {}
    return ClusterDayReport(status_of(found), list_usage(conn, [found.id], A_DAY, DAY_PERIOD), sessions)


@read_endpoint("/clusters/{cluster}/jobs", Access.EVERYBODY, FORWARDS)
def cluster_jobs(
    conn: "Connection", caller: Caller, *, cluster: str, after: int = 0, limit: PageLimit = USUAL_ROWS
) -> list[ClusterJobView]:
    """Jobs of yours that live on one, named by name or number, by their numbers; operators see those of everybody."""
    from cigri.flow.views.jobs import list_cluster_jobs

    require_limit(limit)
    return list_cluster_jobs(conn, _named(conn, [cluster])[0].id, caller, after, limit)


@read_endpoint("/clusters/properties", Access.EVERYBODY, PROPERTIES_BY)
def properties(
    conn: "Connection",
    _caller: Caller,
    *,
    names: list[str] | None = None,
    project: str = "",
    after: str = "",
    limit: PageLimit = USUAL_ROWS,
) -> list[QueueProperties]:
    """What queues and nodes have, as jobs of a project (empty: of none) see it, and where each value comes from."""
    from cigri.flow.views.queues import list_sourced, list_unreadable, property_kinds
    from cigri.requirements import shown

    chosen, kinds = {cluster.name for cluster in _named(conn, names)}, property_kinds(conn)
    unreadable = list_unreadable(conn)
    described = (
        QueueProperties(
            cluster=queue.place.cluster,
            site=queue.place.site,
            queue=queue.place.queue,
            remote_name=queue.remote_name,
            driver=queue.place.driver,
            requires=None if queue.requires is None else dict(queue.requires),
            unreadable=unreadable.get(queue.place.cluster, ""),
            classes=[
                NodeClassView(
                    alike.nodes,
                    {
                        name: NodePropertyView(held.value, shown(held.value, kinds.get(name)), held.source)
                        for name, held in sorted(alike.properties.items())
                    },
                )
                for alike in queue.classes
            ],
        )
        for queue in list_sourced(conn, project)
        if queue.place.cluster in chosen
    )
    return page_of(described, PROPERTIES_BY, after, limit)


@read_endpoint("/clusters/eligible", Access.EVERYBODY, most_rows=LONGEST_PAGE)
def eligible_queues(
    conn: "Connection", _caller: Caller, *, where: str, names: list[str] | None = None, project: str = ""
) -> dict[str, dict[str, list[str]]]:
    """The queues that satisfy an expression, by site and cluster; the default one has no name."""
    from cigri.flow.views.queues import list_queues, property_kinds
    from cigri.requirements import parse_requirement

    kinds, chosen = property_kinds(conn), {cluster.name for cluster in _at_once(_named(conn, names))}
    try:
        requirement = parse_requirement(where, kinds)
    except RequirementError as error:
        raise UsageError(f"--where: {error}", "where") from None
    return eligible_tree([queue for queue in list_queues(conn, project) if queue.cluster in chosen], requirement, kinds)


def _at_once(found: list[ClusterView]) -> list[ClusterView]:
    """Raise UsageError for more clusters than are told by name in one answer."""
    if len(found) > LONGEST_PAGE:
        raise UsageError(f"names: these are {len(found)} clusters; name {LONGEST_PAGE} at most", "names")
    return found


def _named(conn: "Connection", names: list[str] | None) -> list[ClusterView]:
    from cigri.flow.views.clusters import list_cluster_views

    found = list_cluster_views(conn, names or None)
    known = {name for cluster in found for name in (cluster.name, str(cluster.id))}
    if missing := [name for name in names or () if name not in known]:
        raise NotFound(f"no cluster {', '.join(missing)}; `gridclusters` lists all")
    return found


# Which sites, clusters and queues satisfy a requirement.

EligibleTree = dict[str, dict[str, list[str]]]
"""Queues (the default one is "") by site and cluster."""


def eligible_tree(queues: "Iterable[QueueView]", requirement: Requirement, kinds: Kinds) -> EligibleTree:
    """Sites, clusters and queues that are eligible; what queues themselves demand of jobs is not looked at."""
    tree: EligibleTree = {}
    for queue in queues:
        if judge_all(requirement, queue.classes, kinds) is None:
            tree.setdefault(queue.site, {}).setdefault(queue.cluster, []).append(queue.queue)
    return tree
