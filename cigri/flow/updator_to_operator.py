"""The updator says how each cluster is; the operator reads it, with the jobs there and the accounts that run them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from cigri.states import WAITING_JOBS, JobState
from cigri.tables.clusters import Cluster, ClusterState, Drain, UserMapping
from cigri.tables.jobs import Job


class ClusterStanding(NamedTuple):
    """A cluster as last seen, in cores, and our jobs there; None: it has never been seen."""

    name: str
    config: Mapping[str, Any]
    is_enabled: bool
    failures: int
    blocked_until: datetime | None
    visited_at: datetime | None
    total: int | None
    free: int | None
    used_by_us: int | None
    unavailable: int | None
    waiting: int
    running: int
    drained_by: datetime | None

    @property
    def state(self) -> str:
        if self.failures:
            return "failing" if self.is_enabled else "failing, disabled"
        if self.drained_by is not None:
            return f"draining, by {self.drained_by:%Y-%m-%d %H:%M %Z}"
        if not self.is_enabled:
            return "disabled"
        return "ok" if self.visited_at else "not visited yet"


def list_cluster_standings(conn: Connection) -> list[ClusterStanding]:
    """Every declared cluster, by name."""
    jobs = (
        select(
            Job.c.cluster_id,
            func.count().filter(Job.c.state.in_(WAITING_JOBS)).label("waiting"),
            func.count().filter(Job.c.state == JobState.RUNNING).label("running"),
        )
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.cluster_id)
        .subquery()
    )
    columns = (
        Cluster.c.name,
        Cluster.c.config,
        Cluster.c.is_enabled,
        Cluster.c.failures,
        Cluster.c.blocked_until,
        Cluster.c.visited_at,
        ClusterState.c.total,
        ClusterState.c.free,
        ClusterState.c.used_by_us,
        ClusterState.c.unavailable,
        func.coalesce(jobs.c.waiting, 0),
        func.coalesce(jobs.c.running, 0),
        Drain.c.deadline,
    )
    found = conn.execute(
        select(*columns)
        .outerjoin(ClusterState, ClusterState.c.cluster_id == Cluster.c.id)
        .outerjoin(jobs, jobs.c.cluster_id == Cluster.c.id)
        .outerjoin(Drain, Drain.c.cluster_id == Cluster.c.id)
        .order_by(Cluster.c.name)
    )
    return [ClusterStanding._make(row) for row in found]


def list_mappings(conn: Connection, name: str) -> list[tuple[str, str]]:
    """Grid users with another name on the cluster: (grid user, local user)."""
    found = conn.execute(
        select(UserMapping.c.grid_user, UserMapping.c.local_user)
        .join(Cluster, Cluster.c.id == UserMapping.c.cluster_id)
        .where(Cluster.c.name == name)
        .order_by(UserMapping.c.grid_user)
    )
    return [(row.grid_user, row.local_user) for row in found]


def has_clusters(conn: Connection) -> bool:
    return conn.scalar(select(Cluster.c.id).limit(1)) is not None
