"""The pages of clusters: how full each was over the day; of one, its nodes, and what is wrong with it."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.clusters import ClusterStatus, ClusterUsagePeriod, ClusterView, QueueProperties
from cigri.api_models.events import EventView
from cigri.endpoints.cluster_changes import excluded_nodes
from cigri.endpoints.clusters import (
    A_DAY,
    DAY_PERIOD,
    PERIODS,
    cluster_day,
    cluster_jobs,
    cluster_usage,
    clusters,
    properties,
)
from cigri.endpoints.dispatch import SnapshotClient
from cigri.endpoints.events import events
from cigri.endpoints.health import notices
from cigri.endpoints.paging import walk
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.page_router import PageRouter, Site
from modules.portal.rendering.stacked_chart import StackedChart, stack
from modules.portal.rendering.usage_chart import cluster_chart

SHOWN_JOBS = 50
LOOKED_THROUGH = 1000  # open events
MOST_SQUARES = 400


class ClusterListRow(NamedTuple):
    """A cluster in the list; `events`: how many are open."""

    status: ClusterStatus
    stack: StackedChart | None
    events: int


class NodeSquares(NamedTuple):
    """Nodes, a square for each, or for so many: `named` by what is wrong with them, of the others only the number."""

    named: dict[str, list[str]]
    others: int
    each: int

    @property
    def drawn(self) -> list[str]:
        """What is wrong with each square; empty: nothing."""
        wrong = [what for what, names in self.named.items() for _ in range(-(-len(names) // self.each))]
        return wrong + [""] * -(-self.others // self.each)


cluster_pages = PageRouter()


@cluster_pages.page("/clusters")
def clusters_page(site: Site, request: Request) -> Response:
    """List all clusters, with how full each was over the day."""
    caller = site.visitor(request)
    with site.grid(caller).snapshot() as grid:
        now, listed = grid.call(notices, user=caller.user).now, walk(grid, clusters)
        usage, opened = walk(grid, cluster_usage), Counter(event.cluster for event in _open_events(grid))
    lines = [
        ClusterListRow(status, stack(_of(usage, status.cluster.name), now, A_DAY, A_DAY / PERIODS), opened[name])
        for status in listed
        for name in [status.cluster.name]
    ]
    return site.show(request, "clusters.html", caller, lines=lines, cores=_cores_now)


@cluster_pages.page("/clusters/{name}")
def cluster_page(site: Site, request: Request, name: PlainText, jobs_after: PlainNumber = 0) -> Response:
    """Show a cluster: its day, its nodes, its jobs behind `jobs_after`, and its open events."""
    caller = site.visitor(request)
    with site.grid(caller).snapshot() as grid:
        day, now = grid.call(cluster_day, cluster=name), grid.call(notices, user=caller.user).now
        queues = walk(grid, properties, names=[name])
        opened = [event for event in _open_events(grid) if event.cluster == day.status.cluster.name]
        jobs = grid.call(cluster_jobs, cluster=name, after=jobs_after, limit=SHOWN_JOBS + 1)
        excluded = walk(grid, excluded_nodes, cluster=day.status.cluster.name) if caller.is_operator else []
    return site.show(
        request,
        "cluster.html",
        caller,
        standing=day.status,
        cluster=day.status.cluster,
        chart=cluster_chart(day.status.cluster.name, day.usage, now, DAY_PERIOD),
        sessions=day.sessions,
        squares=squares_of(day.status.cluster, queues),
        jobs=jobs[:SHOWN_JOBS],
        has_more_jobs=len(jobs) > SHOWN_JOBS,
        jobs_after=jobs_after,
        excluded=excluded,
        events=opened[::-1],
    )


def squares_of(cluster: ClusterView, queues: Iterable[QueueProperties]) -> NodeSquares:
    """A node may be in several queues, so the largest one counts; what is wrong with a node is told with its name."""
    counts = [[alike.nodes or 0 for alike in queue.classes] for queue in queues]
    total = max(map(sum, counts), default=0)
    drained = [name for name in cluster.drained_nodes if name not in cluster.sick_nodes]
    named = {"sick": cluster.sick_nodes, "draining": drained}
    wrong = sum(map(len, named.values()))
    return NodeSquares(named, max(total - wrong, 0), max(1, -(-max(total, wrong) // MOST_SQUARES)))


def _open_events(grid: SnapshotClient) -> list[EventView]:
    return walk(grid, events, LOOKED_THROUGH, is_global=True)


def _of(usage: Iterable[ClusterUsagePeriod], cluster: str) -> list[ClusterUsagePeriod]:
    return [use for use in usage if use.cluster == cluster]


def _cores_now(cluster: ClusterView) -> tuple[int, ...] | None:
    """Ours, others', down and free, at the last visit; None: there was none."""
    if cluster.total is None:
        return None
    ours, used = cluster.used_by_us or 0, cluster.used or 0
    return ours, max(used - ours, 0), cluster.unavailable or 0, cluster.free or 0
