"""Tasks, their numbers by state, and those of campaigns that ended long ago."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Named,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from cigri.states import TaskState
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table


class TaskColumns(NumberedColumns):
    """One parameter line; `number` counts from 0 in its campaign. `failures`: its own fault; `deaths`: the grid's.

    A checkpoint of it is on `checkpoint_cluster_id`; `stopped_at` is when it began to wait for that cluster. It last
    failed on `failed_cluster_id`, by whatever fault but a preemption, and is tried on another if one is open to it.
    `expected`: seconds that the same task took when it last succeeded, in an earlier campaign, on a cluster of speed 1
    (campaign_clusters.speed).
    """

    campaign_id: Named[int]
    bucket_id: Named[int]
    number: Named[int]
    parameter: Named[object] = Column(JSONB)
    state: Named[TaskState] = Column(one_of(TaskState), server_default="waiting")
    priority: Named[int] = Column(server_default="10")
    attempts: Named[int] = Column(server_default="0")
    failures: Named[int] = Column(server_default="0")
    deaths: Named[int] = Column(server_default="0")
    resubmissions: Named[int] = Column(server_default="0")
    checkpoints: Named[int] = Column(server_default="0")
    checkpoint_cluster_id: Named[int | None] = Column(ForeignKey("clusters.id"))
    stopped_at: Named[datetime | None]
    failed_cluster_id: Named[int | None] = Column(ForeignKey("clusters.id"))
    expected: Named[float | None]


REMAINS = "state IN ('waiting', 'assigned') AND expected IS NOT NULL"
IS_BLOCKED = "state < 'waiting'"  # a word as young as `blocked` no index may name in the migration that brings it
IS_NEW = "state = 'waiting' AND checkpoint_cluster_id IS NULL"
CONTINUES = "state = 'waiting' AND checkpoint_cluster_id IS NOT NULL"
ELSEWHERE = "state = 'waiting' AND failed_cluster_id IS NOT NULL"

Task = table(
    "tasks",
    TaskColumns,
    ForeignKeyConstraint(["bucket_id", "campaign_id"], ["buckets.id", "buckets.campaign_id"], ondelete="CASCADE"),
    UniqueConstraint("campaign_id", "number"),
    CheckConstraint("(checkpoint_cluster_id IS NULL) = (stopped_at IS NULL)", name="stopped_at_checkpoint"),
    Index("ix_tasks_waiting", "bucket_id", text("priority DESC"), text("expected DESC"), "id", postgresql_where=IS_NEW),
    Index("ix_tasks_expected", "campaign_id", "expected", postgresql_where=REMAINS),
    Index("ix_tasks_continuing", "campaign_id", "checkpoint_cluster_id", "id", postgresql_where=CONTINUES),
    Index("ix_tasks_elsewhere", "campaign_id", "failed_cluster_id", postgresql_where=ELSEWHERE),
    Index("ix_tasks_blocked", "campaign_id", "number", postgresql_where=IS_BLOCKED),
    Index("ix_tasks_failed", "campaign_id", postgresql_where="state = 'failed'"),
)


class TaskCountColumns(NumberedColumns):
    """How many tasks of a campaign are in a state: the sum of `n`; triggers append, the predictor adds up.

    Of so many of them (`known`) it is known what they took before, `expected` seconds in all.
    """

    campaign_id: Named[int]
    state: Named[TaskState] = Column(one_of(TaskState))
    n: Named[int]
    known: Named[int] = Column(server_default="0")
    expected: Named[float] = Column(server_default="0")


TaskCount = table("task_counts", TaskCountColumns, Index(None, "campaign_id"))


class TaskHistoryColumns(TableColumns):
    """A task of a campaign that has left the hot tables, with its last attempt."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    number: Named[int] = Column(primary_key=True)
    parameter: Named[object] = Column(JSONB)
    state: Named[TaskState] = Column(one_of(TaskState))
    attempts: Named[int]
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id"))
    exit_code: Named[int | None]
    started_at: Named[datetime | None]
    seconds: Named[float | None]
    node: Named[str | None]


TaskHistory = table("task_history", TaskHistoryColumns)


class LastDurationColumns(TableColumns):
    """Seconds that a task took when it last succeeded: digests of a user with a command, and of a parameter.

    It ran on that cluster; null: nobody knows any more.
    """

    command: Named[UUID] = Column(Uuid, primary_key=True)
    parameter: Named[UUID] = Column(Uuid, primary_key=True)
    seconds: Named[float]
    at: Named[datetime]
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id", ondelete="SET NULL"))


LastDuration = table("last_durations", LastDurationColumns)
