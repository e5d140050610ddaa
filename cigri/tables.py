"""Memory: every table, its columns and the rules that PostgreSQL itself keeps; no statement that runs each pass."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Connection,
    Enum,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    MetaData,
    Text,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from cigri.states import (
    BatchState,
    CampaignState,
    CampaignType,
    EventLevel,
    JobKind,
    JobState,
    KillReason,
    Outcome,
    StepState,
    TaskState,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


def _enum(words: type[StrEnum], name: str) -> Enum:
    return Enum(words, name=name, values_callable=lambda members: [member.value for member in members])


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy's own contract)
        int: BigInteger,
        str: Text,
        float: DOUBLE_PRECISION,
        datetime: TIMESTAMP(timezone=True),
        dict[str, Any]: JSONB,
        object: JSONB,
        CampaignType: _enum(CampaignType, "campaign_type"),
        CampaignState: _enum(CampaignState, "campaign_state"),
        TaskState: _enum(TaskState, "task_state"),
        JobKind: _enum(JobKind, "job_kind"),
        JobState: _enum(JobState, "job_state"),
        BatchState: _enum(BatchState, "batch_state"),
        StepState: _enum(StepState, "step_state"),
        Outcome: _enum(Outcome, "outcome"),
        KillReason: _enum(KillReason, "kill_reason"),
        EventLevel: _enum(EventLevel, "event_level"),
    }


class Grid(Base):
    """One row: the short key that names this grid in the jobs and directories it leaves on clusters."""

    __tablename__ = "grid"
    one: Mapped[bool] = mapped_column(primary_key=True)
    key: Mapped[str]
    __table_args__ = (CheckConstraint("one", name="one_row"), CheckConstraint("key ~ '^[a-z0-9]{4,8}$'", name="key"))


class Project(Base):
    __tablename__ = "projects"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)


class Cluster(Base):
    """`config` is a ClusterConfig. `blocked_until` is the back-off after `failures` visits in a row that failed."""

    __tablename__ = "clusters"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    config: Mapped[dict[str, Any]]
    is_enabled: Mapped[bool] = mapped_column(server_default="true")
    failures: Mapped[int] = mapped_column(server_default="0")
    blocked_until: Mapped[datetime | None]
    visited_at: Mapped[datetime | None]
    __table_args__ = (
        CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name="name"),
        CheckConstraint("(failures > 0) = (blocked_until IS NOT NULL)", name="blocked_after_failures"),
    )


class UserMapping(Base):
    """The account on a cluster that runs a grid user's jobs; without a row it has the same name."""

    __tablename__ = "user_mappings"
    cluster_id: Mapped[int] = mapped_column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    grid_user: Mapped[str] = mapped_column(primary_key=True)
    local_user: Mapped[str]


class ClusterState(Base):
    """What a cluster said at the last visit, in cores; `used_by_us` is part of `used`."""

    __tablename__ = "cluster_states"
    cluster_id: Mapped[int] = mapped_column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Mapped[datetime]
    total: Mapped[int]
    free: Mapped[int]
    used: Mapped[int]
    used_by_us: Mapped[int]
    unavailable: Mapped[int]


class ClusterUsage(Base):
    """The history of cluster_states, one row a period."""

    __tablename__ = "cluster_usage"
    cluster_id: Mapped[int] = mapped_column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    total: Mapped[int]
    free: Mapped[int]
    used: Mapped[int]
    used_by_us: Mapped[int]
    unavailable: Mapped[int]


class Campaign(Base):
    __tablename__ = "campaigns"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    name: Mapped[str]
    grid_user: Mapped[str]
    project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id"))
    type: Mapped[CampaignType]
    state: Mapped[CampaignState]
    scheduler: Mapped[str]
    submitted_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    purged_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    __table_args__ = (
        CheckConstraint("(state IN ('terminated', 'cancelled')) = (ended_at IS NOT NULL)", name="ended"),
        Index("ix_campaigns_open", "id", postgresql_where="state IN ('in_treatment', 'paused')"),
        Index(None, "grid_user", "id"),
    )


class CampaignCluster(Base):
    """A campaign on one of its clusters: settings (ClusterSettings), steps, totals of ended tasks, error budget.

    `errors` counts failures since the last success; `strikes` how often in a row the budget was used up.
    Totals (`done`, `seconds`, `squares`, in s and s^2 of successful tasks) are what forecasts are made of.
    """

    __tablename__ = "campaign_clusters"
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Mapped[int] = mapped_column(ForeignKey("clusters.id"), primary_key=True)
    settings: Mapped[dict[str, Any]]
    width: Mapped[int]
    max_jobs: Mapped[int | None]
    prologue: Mapped[StepState]
    epilogue: Mapped[StepState]
    done: Mapped[int] = mapped_column(server_default="0")
    failed: Mapped[int] = mapped_column(server_default="0")
    resubmitted: Mapped[int] = mapped_column(server_default="0")
    seconds: Mapped[float] = mapped_column(server_default="0")
    squares: Mapped[float] = mapped_column(server_default="0")
    errors: Mapped[int] = mapped_column(server_default="0")
    strikes: Mapped[int] = mapped_column(server_default="0")
    blocked_until: Mapped[datetime | None]
    __table_args__ = (
        CheckConstraint("width > 0", name="width"),
        CheckConstraint("max_jobs > 0", name="max_jobs"),
        Index(None, "cluster_id"),
    )


class Bucket(Base):
    """Tasks of a campaign that ask for the same resources."""

    __tablename__ = "buckets"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    requirements: Mapped[dict[str, Any]]
    __table_args__ = (
        UniqueConstraint("campaign_id", "requirements"),
        UniqueConstraint("id", "campaign_id"),
    )


class Task(Base):
    """One parameter line; `number` counts from 0 in its campaign. `failures`: its own fault; `deaths`: the grid's."""

    __tablename__ = "tasks"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    campaign_id: Mapped[int]
    bucket_id: Mapped[int]
    number: Mapped[int]
    parameter: Mapped[object]
    state: Mapped[TaskState] = mapped_column(server_default="waiting")
    priority: Mapped[int] = mapped_column(server_default="10")
    attempts: Mapped[int] = mapped_column(server_default="0")
    failures: Mapped[int] = mapped_column(server_default="0")
    deaths: Mapped[int] = mapped_column(server_default="0")
    resubmissions: Mapped[int] = mapped_column(server_default="0")
    __table_args__ = (
        ForeignKeyConstraint(["bucket_id", "campaign_id"], ["buckets.id", "buckets.campaign_id"], ondelete="CASCADE"),
        UniqueConstraint("campaign_id", "number"),
        Index("ix_tasks_waiting", "bucket_id", text("priority DESC"), "id", postgresql_where="state = 'waiting'"),
        Index("ix_tasks_failed", "campaign_id", postgresql_where="state = 'failed'"),
    )


class TaskCount(Base):
    """How many tasks of a campaign are in a state: the sum of `n`; triggers append, the janitor adds up."""

    __tablename__ = "task_counts"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    campaign_id: Mapped[int]
    state: Mapped[TaskState]
    n: Mapped[int]
    __table_args__ = (Index(None, "campaign_id"),)


class Batch(Base):
    """One submission: an array named `tag`, committed before anything is submitted."""

    __tablename__ = "batches"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    tag: Mapped[str] = mapped_column(unique=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Mapped[int] = mapped_column(ForeignKey("clusters.id"))
    local_user: Mapped[str]
    state: Mapped[BatchState]
    size: Mapped[int]
    created_at: Mapped[datetime]
    settled_at: Mapped[datetime | None]
    __table_args__ = (
        CheckConstraint("(state = 'launching') = (settled_at IS NULL)", name="settled"),
        CheckConstraint("size > 0", name="size"),
        Index("ix_batches_launching", "cluster_id", postgresql_where="state = 'launching'"),
        Index(None, "campaign_id"),
    )


class Job(Base):
    """One attempt on one cluster: element `array_index` of a batch, carrying one or several tasks (attempts)."""

    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    campaign_id: Mapped[int]
    cluster_id: Mapped[int]
    bucket_id: Mapped[int | None] = mapped_column(ForeignKey("buckets.id", ondelete="CASCADE"))
    kind: Mapped[JobKind]
    state: Mapped[JobState]
    width: Mapped[int]
    walltime: Mapped[int]
    batch_id: Mapped[int | None] = mapped_column(ForeignKey("batches.id", ondelete="CASCADE"))
    array_index: Mapped[int | None]
    remote_id: Mapped[str | None]
    node: Mapped[str | None]
    reason: Mapped[str | None]
    created_at: Mapped[datetime]
    submitted_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    missing_since: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    outcome: Mapped[Outcome | None]
    exit_code: Mapped[int | None]
    __table_args__ = (
        ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            ondelete="CASCADE",
        ),
        CheckConstraint("(state = 'ended') = (outcome IS NOT NULL)", name="ended_has_outcome"),
        CheckConstraint("(state = 'ended') = (ended_at IS NOT NULL)", name="ended_at"),
        CheckConstraint("(batch_id IS NULL) = (array_index IS NULL)", name="batch_and_index"),
        CheckConstraint("state IN ('to_launch', 'ended') OR batch_id IS NOT NULL", name="submitted_has_batch"),
        CheckConstraint("state <> 'to_launch' OR batch_id IS NULL", name="to_launch_has_no_batch"),
        CheckConstraint("(kind = 'tasks') = (bucket_id IS NOT NULL)", name="tasks_have_bucket"),
        CheckConstraint("width > 0 AND walltime > 0", name="size"),
        UniqueConstraint("batch_id", "array_index"),
        Index("ix_jobs_live", "cluster_id", "state", "id", postgresql_where="state <> 'ended'"),
        Index("ix_jobs_campaign", "campaign_id", "cluster_id", "id"),
        Index("ix_jobs_campaign_live", "campaign_id", "cluster_id", "state", postgresql_where="state <> 'ended'"),
    )


class Attempt(Base):
    """One try of one task, carried by a job at `position`; live while `outcome` is null."""

    __tablename__ = "attempts"
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    position: Mapped[int]
    is_replica: Mapped[bool] = mapped_column(server_default="false")
    outcome: Mapped[Outcome | None]
    exit_code: Mapped[int | None]
    started_at: Mapped[datetime | None]
    seconds: Mapped[float | None]
    __table_args__ = (
        UniqueConstraint("job_id", "position"),
        Index(
            "uq_attempts_live",
            "task_id",
            unique=True,
            postgresql_where="outcome IS NULL AND NOT is_replica",
        ),
    )


class Offer(Base):
    """What the metascheduler lets a campaign use of a cluster in this cycle: cores, and jobs at the most."""

    __tablename__ = "offers"
    campaign_id: Mapped[int] = mapped_column(primary_key=True)
    cluster_id: Mapped[int] = mapped_column(primary_key=True)
    cores: Mapped[int]
    jobs: Mapped[int]
    rank: Mapped[int]
    at: Mapped[datetime]
    __table_args__ = (
        ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            ondelete="CASCADE",
        ),
        CheckConstraint("cores > 0 AND jobs > 0", name="not_empty"),
    )


class Completion(Base):
    """Successful tasks per campaign, cluster and minute, from which throughput is read."""

    __tablename__ = "completions"
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Mapped[int] = mapped_column(ForeignKey("clusters.id"), primary_key=True)
    minute: Mapped[datetime] = mapped_column(primary_key=True)
    tasks: Mapped[int]


class Forecast(Base):
    """The present forecast of a campaign on one cluster, or on all (cluster_id null).

    ratio: jobs per core; throughput: tasks per hour; mean, deviation: seconds of a successful task.
    """

    __tablename__ = "forecasts"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("clusters.id"))
    at: Mapped[datetime]
    ratio: Mapped[float]
    throughput: Mapped[float | None]
    mean: Mapped[float | None]
    deviation: Mapped[float | None]
    remaining: Mapped[int]
    eta: Mapped[datetime | None]
    __table_args__ = (
        Index("uq_forecasts_cluster", "campaign_id", "cluster_id", unique=True),
        Index("uq_forecasts_campaign", "campaign_id", unique=True, postgresql_where="cluster_id IS NULL"),
        CheckConstraint("ratio > 0", name="ratio"),
    )


class ForecastHistory(Base):
    __tablename__ = "forecast_history"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("clusters.id"))
    at: Mapped[datetime]
    ratio: Mapped[float]
    throughput: Mapped[float | None]
    mean: Mapped[float | None]
    deviation: Mapped[float | None]
    remaining: Mapped[int]
    eta: Mapped[datetime | None]
    __table_args__ = (Index(None, "campaign_id", "at"),)


class Kill(Base):
    """A wish to see a job dead; open until the job has ended."""

    __tablename__ = "kills"
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    reason: Mapped[KillReason]
    asked_at: Mapped[datetime]
    asked_by: Mapped[str]
    sent_at: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(server_default="0")
    is_open: Mapped[bool] = mapped_column(server_default="true")
    __table_args__ = (Index("ix_kills_open", "job_id", postgresql_where="is_open"),)


class Event(Base):
    """Something a person may want to know; while open, the same code about the same subject only counts up."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    code: Mapped[str]
    level: Mapped[EventLevel]
    subject: Mapped[str]
    message: Mapped[str]
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("clusters.id", ondelete="CASCADE"))
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id", ondelete="CASCADE"))
    count: Mapped[int] = mapped_column(server_default="1")
    opened_at: Mapped[datetime]
    last_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[str | None]
    __table_args__ = (
        CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name="closed_by"),
        Index("uq_events_open", "code", "subject", unique=True, postgresql_where="closed_at IS NULL"),
        Index("ix_events_campaign", "campaign_id", "id"),
        Index("ix_events_job", "job_id"),
        Index("ix_events_task", "task_id"),
    )


class ModuleState(Base):
    """The last pass of each module: what `cigri status` shows."""

    __tablename__ = "modules"
    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    passes: Mapped[int] = mapped_column(server_default="0")
    failures: Mapped[int] = mapped_column(server_default="0")
    started_at: Mapped[datetime]
    seconds: Mapped[float | None]
    counts: Mapped[dict[str, Any]]
    error: Mapped[str | None]


class TaskHistory(Base):
    """A task of a campaign that has left the hot tables, with its last attempt."""

    __tablename__ = "task_history"
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    parameter: Mapped[object]
    state: Mapped[TaskState]
    attempts: Mapped[int]
    cluster_id: Mapped[int | None] = mapped_column(ForeignKey("clusters.id"))
    exit_code: Mapped[int | None]
    started_at: Mapped[datetime | None]
    seconds: Mapped[float | None]
    node: Mapped[str | None]


COUNT_TASKS = """
CREATE FUNCTION count_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO task_counts (campaign_id, state, n)
            SELECT campaign_id, state, count(*) FROM new_tasks GROUP BY campaign_id, state;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO task_counts (campaign_id, state, n)
            SELECT campaign_id, state, -count(*) FROM old_tasks GROUP BY campaign_id, state;
    ELSE
        INSERT INTO task_counts (campaign_id, state, n)
            SELECT campaign_id, state, sum(n) FROM (
                SELECT campaign_id, state, 1 AS n FROM new_tasks
                UNION ALL SELECT campaign_id, state, -1 FROM old_tasks
            ) AS moved GROUP BY campaign_id, state HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END $$
"""
COUNT_TRIGGERS = tuple(
    f"CREATE TRIGGER count_{verb} AFTER {verb} ON tasks REFERENCING {seen} "
    "FOR EACH STATEMENT EXECUTE FUNCTION count_tasks()"
    for verb, seen in (
        ("insert", "NEW TABLE AS new_tasks"),
        ("update", "NEW TABLE AS new_tasks OLD TABLE AS old_tasks"),
        ("delete", "OLD TABLE AS old_tasks"),
    )
)


@event.listens_for(Base.metadata, "after_create")
def _create_counting(_target: MetaData, conn: Connection, **_: object) -> None:
    for statement in (COUNT_TASKS, *COUNT_TRIGGERS):
        conn.execute(text(statement))
