"""The updator's visits tell users how the clusters are and how full they have been."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, cast, func, or_, select, true

from cigri.database import clock
from cigri.states import WAITING_JOBS, JobState
from cigri.tables import Cluster, ClusterState, ClusterUsage, Event, Job


class ClusterView(NamedTuple):
    """A cluster: cores at the last visit (None: never visited), our live jobs, and since when and why it is away."""

    id: int
    name: str
    config: dict[str, Any]
    is_enabled: bool
    paused_until: datetime | None
    visited_at: datetime | None
    total: int | None
    free: int | None
    used: int | None
    used_by_us: int | None
    unavailable: int | None
    waiting: int
    running: int
    away_since: datetime | None
    why: str | None


class Usage(NamedTuple):
    """Mean cores of a cluster in the period that begins `at`."""

    cluster: str
    at: datetime
    total: int
    free: int
    used: int
    used_by_us: int
    unavailable: int


def list_cluster_views(conn: Connection, names: Sequence[str] | None = None) -> list[ClusterView]:
    """All clusters, or those of these names or ids."""
    live = (
        select(
            func.count().filter(Job.state.in_(WAITING_JOBS)).label("waiting"),
            func.count().filter(Job.state == JobState.RUNNING).label("running"),
        )
        .where(Job.cluster_id == Cluster.id, Job.state != JobState.ENDED)
        .lateral()
    )
    away = (
        select(Event.opened_at, Event.message)
        .where(Event.subject == func.concat("cluster ", Cluster.name), Event.closed_at.is_(None))
        .where(Event.code.in_(("CLUSTER_UNREACHABLE", "CLUSTER_ANSWER")))
        .order_by(Event.id.desc())
        .limit(1)
        .lateral()
    )
    state = ClusterState
    statement = (
        select(
            Cluster.id,
            Cluster.name,
            Cluster.config,
            Cluster.is_enabled,
            Cluster.blocked_until,
            Cluster.visited_at,
            state.total,
            state.free,
            state.used,
            state.used_by_us,
            state.unavailable,
            live.c.waiting,
            live.c.running,
            away.c.opened_at,
            away.c.message,
        )
        .select_from(Cluster)
        .join(live, true())
        .outerjoin(away, true())
        .outerjoin(state, state.cluster_id == Cluster.id)
        .order_by(Cluster.id)
    )
    if names is not None:
        ids = [int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 19]
        statement = statement.where(or_(Cluster.name.in_(names), Cluster.id.in_(ids)))
    return [ClusterView._make(row) for row in conn.execute(statement)]


def list_usage(
    conn: Connection, cluster_ids: Sequence[int], past: timedelta, period: timedelta, now: datetime | None = None
) -> list[Usage]:
    """The mean of each `period` of the `past`, oldest first, cluster by cluster."""
    row = ClusterUsage
    start = func.date_bin(period, row.at, clock(now) - past).label("start")
    columns = (row.total, row.free, row.used, row.used_by_us, row.unavailable)
    means = (cast(func.round(func.avg(column)), BigInteger) for column in columns)
    found = conn.execute(
        select(Cluster.name, start, *means)
        .join(Cluster, Cluster.id == row.cluster_id)
        .where(row.cluster_id.in_(cluster_ids), row.at >= clock(now) - past)
        .group_by(Cluster.id, start)
        .order_by(Cluster.id, start)
    )
    return [Usage._make(usage) for usage in found]
