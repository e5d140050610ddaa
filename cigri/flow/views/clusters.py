"""How the clusters are and how full they have been.
Read by: operator, users.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Connection, Table, Text, and_, cast, func, literal, or_, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, aggregate_order_by
from sqlalchemy.sql.selectable import LateralFromClause, Select

from cigri.api_models.campaigns import ClusterTestAttempt
from cigri.api_models.clusters import AccountMapping, ClusterSnapshot, ClusterUsagePeriod, ClusterView
from cigri.database.typed_rows import null_column, read_all
from cigri.states import WAITING_JOBS, CampaignType, JobState
from cigri.tables.campaigns import Bucket, Campaign
from cigri.tables.clusters import (
    Cluster,
    ClusterState,
    ClusterUsage,
    Drain,
    ExcludedNode,
    FrontEndStress,
    NodeDrain,
    UserMapping,
)
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task, TaskHistory


def list_tried(conn: Connection, campaign_id: int) -> list[ClusterTestAttempt]:
    """Sorted by cluster; empty if the campaign is no test, or one whose tasks any of its clusters may take."""
    last = and_(Attempt.c.task_id == Task.c.id, Attempt.c.number == Task.c.attempts)
    said = (
        select(Event.c.message)
        .where(Event.c.subject == func.concat("task ", Task.c.id), Event.c.code == "TASK_FAILED")
        .order_by(Event.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    hot = (
        select(Cluster.c.name.label("cluster"), Task.c.number.label("task_number"), Task.c.state)
        .add_columns(Job.c.id.label("job_id"), Job.c.state.label("job_state"))
        .add_columns(Attempt.c.outcome, Attempt.c.exit_code, Attempt.c.seconds, Job.c.node, said.label("said"))
        .join(Bucket, Bucket.c.id == Task.c.bucket_id)
        .join(Cluster, Cluster.c.id == Bucket.c.cluster_id)
        .outerjoin(Attempt, last)
        .outerjoin(Job, Job.c.id == Attempt.c.job_id)
        .where(Task.c.campaign_id == campaign_id)
        .order_by(Cluster.c.name)
    )
    return read_all(conn, ClusterTestAttempt, hot) or read_all(conn, ClusterTestAttempt, _archived_tests(campaign_id))


def _archived_tests(campaign_id: int) -> Select[*tuple[Any, ...]]:
    old, campaign = TaskHistory.c, Campaign.c
    return (
        select(Cluster.c.name.label("cluster"), old.number.label("task_number"), old.state)
        .add_columns(null_column("job_id", Job.c.id), null_column("job_state", Job.c.state))
        .add_columns(null_column("outcome", Attempt.c.outcome), old.exit_code, old.seconds, old.node)
        .add_columns(null_column("said", Event.c.message))
        .join(Cluster, Cluster.c.id == old.cluster_id)
        .join(Campaign, campaign.id == old.campaign_id)
        .where(old.campaign_id == campaign_id, campaign.type == CampaignType.TEST)
        .order_by(Cluster.c.name, old.number)
    )


def list_cluster_views(conn: Connection, names: Sequence[str] | None = None) -> list[ClusterView]:
    """By id: all clusters, or those that are named, each by its name or its id in digits."""
    live, away, state = _live(), _away(), ClusterState
    sick, drained = _nodes_of(ExcludedNode, ExcludedNode.c.until > func.now()), _nodes_of(NodeDrain)
    statement = (
        select(
            Cluster.c.id,
            Cluster.c.name,
            Cluster.c.config,
            Cluster.c.is_enabled,
            Cluster.c.blocked_until.label("paused_until"),
            Cluster.c.visited_at,
            state.c.total,
            state.c.free,
            state.c.used,
            state.c.used_by_us,
            state.c.unavailable,
            live.c.waiting,
            live.c.running,
            away.c.opened_at.label("away_since"),
            away.c.message.label("why"),
            Drain.c.deadline.label("drained_by"),
            sick.label("sick_nodes"),
            drained.label("drained_nodes"),
            func.coalesce(FrontEndStress.c.pace, 1.0).label("pace"),
            func.coalesce(FrontEndStress.c.why, "").label("stress"),
            Cluster.c.clock_skew,
        )
        .select_from(Cluster)
        .outerjoin(Drain, Drain.c.cluster_id == Cluster.c.id)
        .outerjoin(FrontEndStress, FrontEndStress.c.cluster_id == Cluster.c.id)
        .join(live, true())
        .outerjoin(away, true())
        .outerjoin(state, state.c.cluster_id == Cluster.c.id)
        .order_by(Cluster.c.id)
    )
    if names is not None:
        ids = [int(name) for name in names if name.isascii() and name.isdigit() and len(name) < 19]
        statement = statement.where(or_(Cluster.c.name.in_(names), Cluster.c.id.in_(ids)))
    return read_all(conn, ClusterView, statement)


def _live() -> LateralFromClause:
    """Our jobs on the cluster of the statement around it that have not ended."""
    return (
        select(
            func.count().filter(Job.c.state.in_(WAITING_JOBS)).label("waiting"),
            func.count().filter(Job.c.state == JobState.RUNNING).label("running"),
        )
        .where(Job.c.cluster_id == Cluster.c.id, Job.c.state != JobState.ENDED)
        .lateral()
    )


def _away() -> LateralFromClause:
    """The last open event of the cluster in the statement around it that says why it is not visited."""
    return (
        select(Event.c.opened_at, Event.c.message)
        .where(Event.c.subject == func.concat("cluster ", Cluster.c.name), Event.c.closed_at.is_(None))
        .where(Event.c.code.in_(("CLUSTER_UNREACHABLE", "CLUSTER_ANSWER")))
        .order_by(Event.c.id.desc())
        .limit(1)
        .lateral()
    )


def _nodes_of(nodes: Table[Any], *which: ColumnElement[bool]) -> ColumnElement[list[str]]:
    """The names in this table of nodes of the cluster in the statement around it, sorted."""
    named = select(func.array_agg(aggregate_order_by(nodes.c.node, nodes.c.node), type_=ARRAY(Text)))
    here = named.where(nodes.c.cluster_id == Cluster.c.id, *which).correlate(Cluster)
    return func.coalesce(here.scalar_subquery(), [])


def list_usage(
    conn: Connection,
    cluster_ids: Sequence[int],
    past: timedelta,
    period: timedelta,
    a_start: datetime | None = None,
) -> list[ClusterUsagePeriod]:
    """The mean of each `period` of the `past`, oldest first, cluster by cluster.

    `a_start`: when one of the periods began that were told a moment ago, so that these are the same ones.
    """
    row, began = ClusterUsage, func.now() - past
    origin = began if a_start is None else literal(a_start, row.c.at.type)
    start = func.date_bin(period, row.c.at, origin, type_=row.c.at.type)
    first = func.date_bin(period, began, origin, type_=row.c.at.type)
    columns = (row.c.total, row.c.free, row.c.used, row.c.used_by_us, row.c.unavailable)
    means = (cast(func.round(func.avg(column), 2), DOUBLE_PRECISION).label(column.key) for column in columns)
    statement = (
        select(Cluster.c.name.label("cluster"), start.label("at"), *means)
        .join(Cluster, Cluster.c.id == row.c.cluster_id)
        .where(row.c.cluster_id.in_(cluster_ids), row.c.at >= first)
        .group_by(Cluster.c.id, start)
        .order_by(Cluster.c.id, start)
    )
    return read_all(conn, ClusterUsagePeriod, statement)


def list_cluster_standings(conn: Connection) -> list[ClusterSnapshot]:
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
        func.coalesce(jobs.c.waiting, 0).label("waiting"),
        func.coalesce(jobs.c.running, 0).label("running"),
        Drain.c.deadline.label("drained_by"),
        Cluster.c.clock_skew,
    )
    statement = (
        select(*columns)
        .outerjoin(ClusterState, ClusterState.c.cluster_id == Cluster.c.id)
        .outerjoin(jobs, jobs.c.cluster_id == Cluster.c.id)
        .outerjoin(Drain, Drain.c.cluster_id == Cluster.c.id)
        .order_by(Cluster.c.name)
    )
    return read_all(conn, ClusterSnapshot, statement)


def list_mappings(conn: Connection, name: str) -> list[AccountMapping]:
    """Of grid users with another name on the cluster."""
    mappings = (
        select(UserMapping.c.grid_user, UserMapping.c.local_user)
        .join(Cluster, Cluster.c.id == UserMapping.c.cluster_id)
        .where(Cluster.c.name == name)
        .order_by(UserMapping.c.grid_user)
    )
    return read_all(conn, AccountMapping, mappings)


def has_clusters(conn: Connection) -> bool:
    """Is any declared, be it disabled?"""
    return conn.scalar(select(Cluster.c.id).limit(1)) is not None
