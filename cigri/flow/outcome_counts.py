"""End counts: how many attempts and jobs have ended how on each cluster, and what they cost, since the grid began.
Given by: operator, predictor, runner, updator, users; taken by: portal, users.
"""

from sqlalchemy import Connection, cast, delete, exists, func, insert, literal, select
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.selectable import FromClause

from cigri.api_models.metrics import OutcomeMetric
from cigri.database.typed_rows import read_all
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Attempt, Job, OutcomeCount

ALIKE_ENDS = ("cluster_id", "outcome", "is_replica")
SUMS = ("attempts", "jobs", "core_seconds")
MANY = 1000


def attempts_counted(ended: FromClause) -> Insert:
    """Of attempts that have just ended: `ended` has their job_id, outcome and is_replica."""
    counts = (
        select(Job.c.cluster_id, ended.c.outcome, ended.c.is_replica, func.count(), literal(0), literal(0.0))
        .join_from(ended, Job, Job.c.id == ended.c.job_id)
        .group_by(Job.c.cluster_id, ended.c.outcome, ended.c.is_replica)
    )
    return insert(OutcomeCount).from_select([*ALIKE_ENDS, *SUMS], counts)


def jobs_counted(ended: FromClause) -> Insert:
    """Of jobs that have just ended: `ended` has their id, cluster_id, outcome, width and ran_seconds."""
    is_replica = exists().where(Attempt.c.job_id == ended.c.id, Attempt.c.is_replica)
    used = ended.c.width * ended.c.ran_seconds
    each = select(ended.c.cluster_id, ended.c.outcome, is_replica.label("is_replica"), used.label("used")).subquery(
        "each"
    )
    counts = select(
        each.c.cluster_id,
        each.c.outcome,
        each.c.is_replica,
        literal(0),
        func.count(),
        func.coalesce(func.sum(each.c.used), 0.0),
    ).group_by(each.c.cluster_id, each.c.outcome, each.c.is_replica)
    return insert(OutcomeCount).from_select([*ALIKE_ENDS, *SUMS], counts)


def add_up_ends(conn: Connection, longest: int = MANY) -> None:
    """Replace many rows by their sums; it changes no total."""
    if (conn.scalar(select(func.count()).select_from(OutcomeCount)) or 0) <= longest:
        return
    columns = [OutcomeCount.c[name] for name in (*ALIKE_ENDS, *SUMS)]
    gone = delete(OutcomeCount).returning(*columns).cte("gone")
    group = [gone.c[name] for name in ALIKE_ENDS]
    sums = select(*group, *(func.sum(gone.c[name]) for name in SUMS)).group_by(*group)
    conn.execute(insert(OutcomeCount).from_select([*ALIKE_ENDS, *SUMS], sums))


def list_end_counts(conn: Connection) -> list[OutcomeMetric]:
    """Sorted by cluster, one for each way in which something has ended there."""
    count = OutcomeCount.c
    statement = (
        select(Cluster.c.name.label("cluster"), count.outcome, count.is_replica)
        .add_columns(*(cast(func.sum(count[name]), count[name].type).label(name) for name in SUMS))
        .join(Cluster, Cluster.c.id == count.cluster_id)
        .group_by(Cluster.c.name, count.outcome, count.is_replica)
        .order_by(Cluster.c.name, count.outcome, count.is_replica)
    )
    return read_all(conn, OutcomeMetric, statement)
