"""States of clusters: how full each is, now and minute by minute.
Given by: updator; taken by: metascheduler, predictor, updator.
"""

from datetime import datetime
from functools import cache

from sqlalchemy import BigInteger, BindParameter, Connection, bindparam, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import interval
from cigri.drivers import Capacity
from cigri.states import JobState
from cigri.tables.clusters import Cluster, ClusterState, ClusterUsage, ExcludedNode, NodeDrain
from cigri.tables.jobs import Job
from cigri.tables.resources import NodeClass

USAGE_PERIOD = 60.0  # seconds between two rows of a cluster's history


def put_cluster_state(conn: Connection, cluster_id: int, capacity: Capacity, used_by_us: int) -> None:
    """The present state, and one row of history a minute; free cores of nodes that are left out are not available."""
    conn.execute(_state(), {"here": cluster_id, "ours": used_by_us, **_seen(capacity)})


def count_ours(conn: Connection, cluster_id: int) -> None:
    """The same visit has found jobs of ours that began or ended: what it wrote of used cores is divided anew.

    A job that the cluster no longer lists has ended: others have its cores by now, whatever becomes of its record.
    """
    conn.execute(_counted(), {"here": cluster_id})


@cache
def _counted() -> Update:
    here = bindparam("here", type_=BigInteger)
    state, usage = ClusterState.c, ClusterUsage.c
    running = select(func.coalesce(func.sum(Job.c.width), 0)).where(
        Job.c.cluster_id == here, Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None)
    )
    counted = (
        update(ClusterState)
        .where(state.cluster_id == here)
        .values(used_by_us=func.least(state.used, running.scalar_subquery()))
        .returning(state.cluster_id, state.at, state.used, state.used_by_us)
        .cte("counted")
    )
    return (
        update(ClusterUsage)
        .where(usage.cluster_id == counted.c.cluster_id, usage.at == minute_of(counted.c.at))
        .where(usage.used == counted.c.used)
        .values(used_by_us=counted.c.used_by_us)
    )


@cache
def _state() -> Update:
    here = bindparam("here", type_=BigInteger)
    seen = {name: bindparam(f"{name}_cores", type_=BigInteger) for name in Capacity._fields}
    lost = func.least(seen["free"], _left_out(here))
    values = {
        **seen,
        "free": seen["free"] - lost,
        "unavailable": seen["unavailable"] + lost,
        "cluster_id": here,
        "used_by_us": bindparam("ours", type_=BigInteger),
    }
    state = upsert(ClusterState).values({**values, "at": func.now()})
    fields = {name: state.excluded[name] for name in (*values, "at") if name != "cluster_id"}
    return (
        update(Cluster)
        .where(Cluster.c.id == here)
        .values(visited_at=func.now())
        .add_cte(state.on_conflict_do_update(index_elements=[ClusterState.c.cluster_id], set_=fields).cte("state"))
        .add_cte(
            upsert(ClusterUsage).values({**values, "at": minute_of(func.now())}).on_conflict_do_nothing().cte("usage")
        )
    )


def _left_out(here: BindParameter[int]) -> ColumnElement[int]:
    """Cores of the nodes that get no job of ours now, if each is as large as the largest."""
    sick = select(ExcludedNode.c.node).where(ExcludedNode.c.cluster_id == here, ExcludedNode.c.until > func.now())
    nodes = select(func.count()).select_from(
        sick.union(select(NodeDrain.c.node).where(NodeDrain.c.cluster_id == here)).subquery()
    )
    largest = select(func.coalesce(cores_of_a_node(), 0)).where(NodeClass.c.cluster_id == here)
    return nodes.scalar_subquery() * largest.scalar_subquery()


def cores_of_a_node() -> ColumnElement[int]:
    """The largest `cores` among the node classes of the statement around it; null where no class tells any."""
    return cast(func.max(NodeClass.c.properties["cores"].as_float()), BigInteger)


def _seen(capacity: Capacity) -> dict[str, int]:
    return {f"{name}_cores": cores for name, cores in capacity._asdict().items()}


def minute_of(time: ColumnElement[datetime]) -> ColumnElement[datetime]:
    """The row of a cluster's history that tells of this time."""
    return func.date_bin(interval(USAGE_PERIOD), time, datetime(2001, 1, 1))  # noqa: DTZ001
