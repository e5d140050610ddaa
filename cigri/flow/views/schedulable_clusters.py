"""Clusters that can be given jobs, and how much room they have.
Read by: metascheduler.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Row, Select, Subquery, and_, cast, func, select

from cigri.flow.cluster_states import cores_of_a_node
from cigri.flow.quarantines import is_cluster_left_out
from cigri.flow.views.queued_jobs import QueuedJobCounts, list_queued
from cigri.flow.views.running_jobs import is_active
from cigri.settings.cluster_config import ClusterConfig, read_config, visit_interval
from cigri.states import WAITING_JOBS, JobState
from cigri.tables.clusters import Cluster, ClusterRate, ClusterState, FrontEndStress
from cigri.tables.jobs import Job
from cigri.tables.resources import NodeClass

NOTHING_QUEUED = QueuedJobCounts()


class SchedulableCluster(NamedTuple):
    """A cluster that can be given jobs: free cores, and our jobs waiting (from chosen to queued) and running there.

    `waiting_cores` are those that the waiting jobs ask for. `pace`: the part of the usual that may be asked of it under
    the `stress` that it is under. `expected_starts`: jobs of ours that it was seen to start in the time between two
    looks at it. `largest_node_cores`: cores of its largest node; 0: not known. `queued_by_request`: of those waiting,
    of all campaigns, by what they ask for (views/queued_jobs.py).

    A held job does not wait for cores: it is in nobody's way. Nor is one that the cluster no longer lists.
    """

    cluster_id: int
    name: str
    config: ClusterConfig
    free: int
    waiting: int
    running: int
    waiting_cores: int
    total: int
    pace: float = 1.0
    stress: str = ""
    expected_starts: float = 0.0
    largest_node_cores: int = 0
    queued_by_request: Mapping[int, int] = NOTHING_QUEUED.asked

    def is_wide(self, width: int) -> bool:
        """Does a job of so many cores take half a node, or more?"""
        return width > 1 and 0 < self.largest_node_cores <= 2 * width


def list_schedulable_clusters(conn: Connection) -> list[SchedulableCluster]:
    """Enabled clusters whose last visit succeeded, the emptiest first."""
    queued = list_queued(conn)
    rooms = (_room(row, queued.get(row.id, NOTHING_QUEUED)) for row in conn.execute(_usable()).all())
    return [room for room in rooms if room is not None]


def _room(row: Row[*tuple[Any, ...]], queued: QueuedJobCounts) -> SchedulableCluster | None:
    """None: the configuration of the cluster cannot be read."""
    config = read_config(row.name, row.config)
    if config is None:
        return None
    return SchedulableCluster(
        cluster_id=row.id,
        name=row.name,
        config=config,
        free=row.free,
        waiting=row.waiting,
        running=row.running,
        waiting_cores=row.waiting_cores,
        total=row.total,
        pace=row.pace,
        stress=row.stress,
        expected_starts=row.start_rate * visit_interval(row.cycle, config.poll_interval),
        largest_node_cores=row.node,
        queued_by_request=queued.asked,
    )


@cache
def _usable() -> Select[*tuple[Any, ...]]:
    """Enabled clusters whose last visit succeeded, and that the runner does not leave out."""
    counts = _counts()
    cores = select(NodeClass.c.cluster_id, cores_of_a_node().label("cores"))
    nodes = cores.group_by(NodeClass.c.cluster_id).subquery()
    return (
        select(
            Cluster.c.id,
            Cluster.c.name,
            Cluster.c.config,
            ClusterState.c.free,
            func.coalesce(counts.c.waiting, 0).label("waiting"),
            func.coalesce(counts.c.running, 0).label("running"),
            func.coalesce(counts.c.waiting_cores, 0).label("waiting_cores"),
            ClusterState.c.total,
            func.coalesce(FrontEndStress.c.pace, 1.0).label("pace"),
            func.coalesce(FrontEndStress.c.why, "").label("stress"),
            func.coalesce(ClusterRate.c.start_rate, 0.0).label("start_rate"),
            func.coalesce(ClusterRate.c.cycle, 0.0).label("cycle"),
            func.coalesce(nodes.c.cores, 0).label("node"),
        )
        .outerjoin(ClusterRate, ClusterRate.c.cluster_id == Cluster.c.id)
        .outerjoin(FrontEndStress, FrontEndStress.c.cluster_id == Cluster.c.id)
        .join(ClusterState, ClusterState.c.cluster_id == Cluster.c.id)
        .outerjoin(counts, counts.c.cluster_id == Cluster.c.id)
        .outerjoin(nodes, nodes.c.cluster_id == Cluster.c.id)
        .where(Cluster.c.is_enabled, Cluster.c.failures == 0, ~is_cluster_left_out("runner"))
        .order_by(ClusterState.c.free.desc(), Cluster.c.id)
    )


def _counts() -> Subquery:
    """By cluster our jobs that have not ended: those that wait for cores, the cores they ask for, those that run.

    Suspended ones do not run: none of them ends.
    """
    runs = and_(Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None), Job.c.halted_since.is_(None))
    is_waiting = and_(Job.c.state.in_(WAITING_JOBS), is_active())
    return (
        select(
            Job.c.cluster_id,
            func.count().filter(is_waiting).label("waiting"),
            cast(func.sum(Job.c.width).filter(is_waiting), BigInteger).label("waiting_cores"),
            func.count().filter(runs).label("running"),
        )
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.cluster_id)
        .subquery()
    )
