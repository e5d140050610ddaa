"""Memory: every table, its columns and the rules that PostgreSQL itself keeps; no statement that runs each pass."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Named,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from cigri.columns import Columns, Numbered, one_of, table
from cigri.columns import metadata as metadata
from cigri.counting import create_counting
from cigri.states import (
    BatchState,
    CampaignState,
    CampaignType,
    CutReason,
    EventLevel,
    JobKind,
    JobState,
    KillReason,
    Outcome,
    StepState,
    SubjectKind,
    TaskState,
)

FOLLOWS_HOURS = "settings ->> 'type' IN ('nightly', 'semi-best-effort')"


class GridColumns(Columns):
    """One row: the short key that names this grid in the jobs and directories it leaves on clusters."""

    one: Named[bool] = Column(primary_key=True)
    key: Named[str]


Grid = table(
    "grid",
    GridColumns,
    CheckConstraint("one", name="one_row"),
    CheckConstraint("key ~ '^[a-z0-9]{4,8}$'", name="key"),
)


class ProjectColumns(Numbered):
    name: Named[str] = Column(unique=True)


Project = table("projects", ProjectColumns)


class ClusterColumns(Numbered):
    """`config` is a ClusterConfig. `blocked_until` is the back-off after `failures` visits in a row that failed."""

    name: Named[str] = Column(unique=True)
    config: Named[dict[str, Any]] = Column(JSONB)
    is_enabled: Named[bool] = Column(server_default="true")
    failures: Named[int] = Column(server_default="0")
    blocked_until: Named[datetime | None]
    visited_at: Named[datetime | None]


Cluster = table(
    "clusters",
    ClusterColumns,
    CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name="name"),
    CheckConstraint("(failures > 0) = (blocked_until IS NOT NULL)", name="blocked_after_failures"),
)


class UserMappingColumns(Columns):
    """The account on a cluster that runs a grid user's jobs; without a row it has the same name."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    grid_user: Named[str] = Column(primary_key=True)
    local_user: Named[str]


UserMapping = table("user_mappings", UserMappingColumns)


class AffinityColumns(Columns):
    """Under the policy `affinity`, the user's campaigns go first on the cluster."""

    grid_user: Named[str] = Column(primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)


Affinity = table("affinities", AffinityColumns)


class ClusterStateColumns(Columns):
    """What a cluster said at the last visit, in cores; `used_by_us` is part of `used`."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    total: Named[int]
    free: Named[int]
    used: Named[int]
    used_by_us: Named[int]
    unavailable: Named[int]


ClusterState = table("cluster_states", ClusterStateColumns)


class ClusterUsageColumns(ClusterStateColumns):
    """The history of cluster_states, one row a period."""

    at: Named[datetime] = Column(primary_key=True)


ClusterUsage = table("cluster_usage", ClusterUsageColumns)


class CampaignColumns(Numbered):
    """`served_at`: when jobs were last made of its tasks."""

    name: Named[str]
    grid_user: Named[str]
    project_id: Named[int | None] = Column(ForeignKey("projects.id"))
    type: Named[CampaignType] = Column(one_of(CampaignType))
    state: Named[CampaignState] = Column(one_of(CampaignState))
    scheduler: Named[str]
    submitted_at: Named[datetime]
    ended_at: Named[datetime | None]
    purged_at: Named[datetime | None]
    archived_at: Named[datetime | None]
    priority: Named[int] = Column(server_default="0")
    served_at: Named[datetime | None]


Campaign = table(
    "campaigns",
    CampaignColumns,
    CheckConstraint("(state IN ('terminated', 'cancelled')) = (ended_at IS NOT NULL)", name="ended"),
    Index("ix_campaigns_open", "id", postgresql_where="state IN ('in_treatment', 'paused')"),
    Index(None, "grid_user", "id"),
)


class TargetColumns(Columns):
    """What is due to a user or a project beside the others; 1 without a row."""

    kind: Named[SubjectKind] = Column(one_of(SubjectKind), primary_key=True)
    name: Named[str] = Column(primary_key=True)
    share: Named[float]


Target = table("targets", TargetColumns, CheckConstraint("share > 0", name="share"))


class UsageColumns(Numbered):
    """Core-seconds that ended jobs used and had asked for, as much as they count at the time `at`.

    The updator appends, the metascheduler adds up.
    """

    grid_user: Named[str]
    project_id: Named[int | None] = Column(ForeignKey("projects.id"))
    used: Named[float]
    asked: Named[float]
    at: Named[datetime]


Usage = table("usages", UsageColumns)


class CampaignClusterColumns(Columns):
    """A campaign on one of its clusters: settings (ClusterSettings), steps, totals of ended tasks, error budget.

    `errors` counts failures since the last success; `strikes` how often in a row the budget was used up.
    Totals (`done`, `seconds`, `squares`, in s and s^2 of successful tasks) are what forecasts are made of;
    `durations` counts the same tasks by duration, in the bins of cigri/durations.py.
    """

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id"), primary_key=True)
    settings: Named[dict[str, Any]] = Column(JSONB)
    width: Named[int]
    max_jobs: Named[int | None]
    prologue: Named[StepState] = Column(one_of(StepState))
    epilogue: Named[StepState] = Column(one_of(StepState))
    done: Named[int] = Column(server_default="0")
    failed: Named[int] = Column(server_default="0")
    resubmitted: Named[int] = Column(server_default="0")
    seconds: Named[float] = Column(server_default="0")
    squares: Named[float] = Column(server_default="0")
    errors: Named[int] = Column(server_default="0")
    strikes: Named[int] = Column(server_default="0")
    blocked_until: Named[datetime | None]
    durations: Named[list[int]] = Column(ARRAY(BigInteger), server_default="{}")


CampaignCluster = table(
    "campaign_clusters",
    CampaignClusterColumns,
    CheckConstraint("width > 0", name="width"),
    CheckConstraint("max_jobs > 0", name="max_jobs"),
    Index(None, "cluster_id"),
    Index("ix_campaign_clusters_hours", "campaign_id", postgresql_where=FOLLOWS_HOURS),
)


class LimitColumns(Columns):
    """What all live jobs together may use of something: tokens, as licences or the load that a file server bears."""

    name: Named[str] = Column(primary_key=True)
    capacity: Named[int]


Limit = table(
    "limits",
    LimitColumns,
    CheckConstraint("capacity >= 0", name="capacity"),
    CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name="name"),
)


class CampaignLimitColumns(Columns):
    """The tokens of a limit that each job of a campaign takes on a cluster."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    limit_name: Named[str] = Column(ForeignKey("limits.name"), primary_key=True)
    tokens: Named[int]


CampaignLimit = table(
    "campaign_limits",
    CampaignLimitColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("tokens > 0", name="tokens"),
    Index(None, "limit_name"),
)


class QuotaColumns(Numbered):
    """The most cores that live jobs of a user or project have, on a cluster or (null) on all; name *: each of them."""

    kind: Named[SubjectKind] = Column(one_of(SubjectKind))
    name: Named[str]
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    cores: Named[int]


Quota = table(
    "quotas",
    QuotaColumns,
    CheckConstraint("cores >= 0", name="cores"),
    Index("uq_quotas_grid", "kind", "name", unique=True, postgresql_where="cluster_id IS NULL"),
    Index("uq_quotas_cluster", "kind", "name", "cluster_id", unique=True, postgresql_where="cluster_id IS NOT NULL"),
)


class BucketColumns(Numbered):
    """Tasks of a campaign that ask for the same resources."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    requirements: Named[dict[str, Any]] = Column(JSONB)


Bucket = table(
    "buckets", BucketColumns, UniqueConstraint("campaign_id", "requirements"), UniqueConstraint("id", "campaign_id")
)


class TaskColumns(Numbered):
    """One parameter line; `number` counts from 0 in its campaign. `failures`: its own fault; `deaths`: the grid's.

    A checkpoint of it is on `checkpoint_cluster_id`; `stopped_at` is when it began to wait for that cluster.
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


IS_NEW = "state = 'waiting' AND checkpoint_cluster_id IS NULL"
CONTINUES = "state = 'waiting' AND checkpoint_cluster_id IS NOT NULL"

Task = table(
    "tasks",
    TaskColumns,
    ForeignKeyConstraint(["bucket_id", "campaign_id"], ["buckets.id", "buckets.campaign_id"], ondelete="CASCADE"),
    UniqueConstraint("campaign_id", "number"),
    CheckConstraint("(checkpoint_cluster_id IS NULL) = (stopped_at IS NULL)", name="stopped_at_checkpoint"),
    Index("ix_tasks_waiting", "bucket_id", text("priority DESC"), "id", postgresql_where=IS_NEW),
    Index("ix_tasks_continuing", "campaign_id", "checkpoint_cluster_id", "id", postgresql_where=CONTINUES),
    Index("ix_tasks_failed", "campaign_id", postgresql_where="state = 'failed'"),
)


class TaskCountColumns(Numbered):
    """How many tasks of a campaign are in a state: the sum of `n`; triggers append, the janitor adds up."""

    campaign_id: Named[int]
    state: Named[TaskState] = Column(one_of(TaskState))
    n: Named[int]


TaskCount = table("task_counts", TaskCountColumns, Index(None, "campaign_id"))


class BatchColumns(Numbered):
    """One submission: an array named `tag`, committed before anything is submitted."""

    tag: Named[str] = Column(unique=True)
    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int] = Column(ForeignKey("clusters.id"))
    local_user: Named[str]
    state: Named[BatchState] = Column(one_of(BatchState))
    size: Named[int]
    created_at: Named[datetime]
    settled_at: Named[datetime | None]


Batch = table(
    "batches",
    BatchColumns,
    CheckConstraint("(state = 'launching') = (settled_at IS NULL)", name="settled"),
    CheckConstraint("size > 0", name="size"),
    Index("ix_batches_launching", "cluster_id", postgresql_where="state = 'launching'"),
    Index("ix_batches_submitted", "settled_at", postgresql_where="state = 'submitted'"),
    Index(None, "campaign_id"),
)


class JobColumns(Numbered):
    """One attempt on one cluster: element `array_index` of a batch, carrying one or several tasks (attempts).

    `halted_since`: the batch system holds it in the queue, or has suspended it; `halted_seconds` it has lost so before,
    since it was submitted or, once it runs, since it was started.
    """

    campaign_id: Named[int]
    cluster_id: Named[int]
    bucket_id: Named[int | None] = Column(ForeignKey("buckets.id", ondelete="CASCADE"))
    kind: Named[JobKind] = Column(one_of(JobKind))
    state: Named[JobState] = Column(one_of(JobState))
    width: Named[int]
    walltime: Named[int]
    batch_id: Named[int | None] = Column(ForeignKey("batches.id", ondelete="CASCADE"))
    array_index: Named[int | None]
    remote_id: Named[str | None]
    node: Named[str | None]
    reason: Named[str | None]
    created_at: Named[datetime]
    submitted_at: Named[datetime | None]
    started_at: Named[datetime | None]
    missing_since: Named[datetime | None]
    ended_at: Named[datetime | None]
    outcome: Named[Outcome | None] = Column(one_of(Outcome))
    exit_code: Named[int | None]
    halted_since: Named[datetime | None]
    halted_seconds: Named[float] = Column(server_default="0")


Job = table(
    "jobs",
    JobColumns,
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
    Index("ix_jobs_started", "cluster_id", "started_at", postgresql_where="started_at IS NOT NULL"),
    Index("ix_jobs_preempted", "cluster_id", "ended_at", postgresql_where="outcome = 'preempted'"),
)


class AttemptColumns(Columns):
    """One try of one task, carried by a job at `position`; live while `outcome` is null."""

    task_id: Named[int] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    number: Named[int] = Column(primary_key=True)
    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"))
    position: Named[int]
    is_replica: Named[bool] = Column(server_default="false")
    outcome: Named[Outcome | None] = Column(one_of(Outcome))
    exit_code: Named[int | None]
    started_at: Named[datetime | None]
    seconds: Named[float | None]


Attempt = table(
    "attempts",
    AttemptColumns,
    UniqueConstraint("job_id", "position"),
    Index(
        "uq_attempts_live",
        "task_id",
        unique=True,
        postgresql_where="outcome IS NULL AND NOT is_replica",
    ),
)


class OfferColumns(Columns):
    """What the metascheduler lets a campaign use of a cluster in this cycle: cores, and jobs at the most."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    cores: Named[int]
    jobs: Named[int]
    rank: Named[int]
    at: Named[datetime]


Offer = table(
    "offers",
    OfferColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("cores > 0 AND jobs > 0", name="not_empty"),
)


class CutColumns(Columns):
    """What kept a campaign with waiting tasks from more jobs on a cluster in the last cycle, and since when."""

    campaign_id: Named[int] = Column(primary_key=True)
    cluster_id: Named[int] = Column(primary_key=True)
    reason: Named[CutReason] = Column(one_of(CutReason))
    name: Named[str]
    used: Named[int]
    most: Named[int]
    since: Named[datetime]


Cut = table(
    "cuts",
    CutColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
)


class CompletionColumns(Columns):
    """Successful tasks per campaign, cluster and minute, from which throughput is read."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id"), primary_key=True)
    minute: Named[datetime] = Column(primary_key=True)
    tasks: Named[int]


Completion = table("completions", CompletionColumns)


class ForecastColumns(Numbered):
    """A forecast of a campaign on one cluster, or on all (cluster_id null): the present one, and in the history.

    ratio: jobs per core; throughput: tasks per hour; mean, deviation, median, p95: seconds of a successful task.
    keep: jobs kept waiting there behind what can start at once; send: jobs to send in this cycle whatever is free; both
    null: as the cluster is configured. The end lies between eta_low and eta_high with a probability of 90 %.
    memory: what the algorithm keeps for itself; submitted: jobs sent since the forecast before; free: cores now.
    """

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id"))
    at: Named[datetime]
    ratio: Named[float]
    throughput: Named[float | None]
    mean: Named[float | None]
    deviation: Named[float | None]
    remaining: Named[int]
    eta: Named[datetime | None]
    median: Named[float | None]
    p95: Named[float | None]
    keep: Named[int | None]
    send: Named[int | None]
    memory: Named[dict[str, float]] = Column(JSONB, server_default="{}")
    submitted: Named[int] = Column(server_default="0")
    free: Named[int | None]
    eta_low: Named[datetime | None]
    eta_high: Named[datetime | None]


Forecast = table(
    "forecasts",
    ForecastColumns,
    Index("uq_forecasts_cluster", "campaign_id", "cluster_id", unique=True),
    Index("uq_forecasts_campaign", "campaign_id", unique=True, postgresql_where="cluster_id IS NULL"),
    CheckConstraint("ratio > 0", name="ratio"),
    CheckConstraint("keep >= 0 AND send >= 0", name="jobs"),
    CheckConstraint("eta_low <= eta AND eta <= eta_high", name="interval"),
)
ForecastHistory = table("forecast_history", ForecastColumns, Index(None, "campaign_id", "at"))


class ClusterForecastColumns(Columns):
    """How a cluster serves the grid, as measured in the recent past; null: not seen yet.

    cycle: seconds between two forecasts; start_rate: jobs of ours that it starts per second; queue_delay: seconds from
    submission to start when cores are free; arrivals, releases: cores that others take and give back per second;
    hazard: jobs killed per core-second of ours.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    cycle: Named[float | None]
    start_rate: Named[float | None]
    queue_delay: Named[float | None]
    arrivals: Named[float | None]
    releases: Named[float | None]
    hazard: Named[float | None]


ClusterForecast = table("cluster_forecasts", ClusterForecastColumns)


class KillColumns(Columns):
    """A wish to see a job dead; open until the job has ended."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    reason: Named[KillReason] = Column(one_of(KillReason))
    asked_at: Named[datetime]
    asked_by: Named[str]
    sent_at: Named[datetime | None]
    tries: Named[int] = Column(server_default="0")
    is_open: Named[bool] = Column(server_default="true")


Kill = table("kills", KillColumns, Index("ix_kills_open", "job_id", postgresql_where="is_open"))


class DrainColumns(Columns):
    """An operator's wish to have a cluster empty of our jobs at `deadline`; it is disabled meanwhile.

    `kills`: what runs then is killed, until our jobs have no more than `keep` cores.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    deadline: Named[datetime]
    kills: Named[bool]
    keep: Named[int]
    asked_at: Named[datetime]
    asked_by: Named[str]


Drain = table("drains", DrainColumns, CheckConstraint("keep >= 0", name="keep"))


class ShutdownColumns(Columns):
    """When a running job was told that it will be shut down; `was_heard`: its JOBFEATURES are ours to write."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    was_heard: Named[bool]


Shutdown = table("shutdowns", ShutdownColumns)


class CheckpointRequestColumns(Columns):
    """A user's wish to see a running job save its state; open until the task was signalled or the job has ended."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    asked_at: Named[datetime]
    asked_by: Named[str]
    sent_at: Named[datetime | None]
    heard_at: Named[datetime | None]
    looks: Named[int] = Column(server_default="0")
    is_open: Named[bool] = Column(server_default="true")


CheckpointRequest = table(
    "checkpoint_requests",
    CheckpointRequestColumns,
    Index("ix_checkpoint_requests_open", "job_id", postgresql_where="is_open"),
)


class HoldColumns(Numbered):
    """A user's wish that a campaign, its share of one cluster, or one job stands still; removed when it shall go on."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int | None]
    job_id: Named[int | None] = Column(ForeignKey("jobs.id", ondelete="CASCADE"))
    waiting_only: Named[bool] = Column(server_default="false")
    asked_at: Named[datetime]
    asked_by: Named[str]


Hold = table(
    "holds",
    HoldColumns,
    ForeignKeyConstraint(
        ["campaign_id", "cluster_id"],
        ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
        ondelete="CASCADE",
    ),
    CheckConstraint("cluster_id IS NULL OR job_id IS NULL", name="one_thing"),
    Index("uq_holds_campaign", "campaign_id", unique=True, postgresql_where="cluster_id IS NULL AND job_id IS NULL"),
    Index("uq_holds_cluster", "campaign_id", "cluster_id", unique=True, postgresql_where="cluster_id IS NOT NULL"),
    Index("uq_holds_job", "job_id", unique=True, postgresql_where="job_id IS NOT NULL"),
)


class HaltColumns(Columns):
    """What the killer last told a cluster about a job: stand still (`is_wanted`) or go on, and the job's state then."""

    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    is_wanted: Named[bool]
    state: Named[JobState] = Column(one_of(JobState))
    sent_at: Named[datetime | None]
    tries: Named[int]


Halt = table("halts", HaltColumns)


class EventColumns(Numbered):
    """Something a person may want to know; while open, the same code about the same subject only counts up."""

    code: Named[str]
    level: Named[EventLevel] = Column(one_of(EventLevel))
    subject: Named[str]
    message: Named[str]
    campaign_id: Named[int | None] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    job_id: Named[int | None] = Column(ForeignKey("jobs.id", ondelete="CASCADE"))
    task_id: Named[int | None] = Column(ForeignKey("tasks.id", ondelete="CASCADE"))
    count: Named[int] = Column(server_default="1")
    opened_at: Named[datetime]
    last_at: Named[datetime]
    closed_at: Named[datetime | None]
    closed_by: Named[str | None]


Event = table(
    "events",
    EventColumns,
    CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name="closed_by"),
    Index("uq_events_open", "code", "subject", unique=True, postgresql_where="closed_at IS NULL"),
    Index("ix_events_campaign", "campaign_id", "id"),
    Index("ix_events_job", "job_id"),
    Index("ix_events_task", "task_id"),
)


class ModuleStateColumns(Columns):
    """The last pass of each module: what `cigri status` shows."""

    name: Named[str] = Column(primary_key=True)
    host: Named[str]
    pid: Named[int]
    passes: Named[int] = Column(server_default="0")
    failures: Named[int] = Column(server_default="0")
    started_at: Named[datetime]
    seconds: Named[float | None]
    counts: Named[dict[str, Any]] = Column(JSONB)
    error: Named[str | None]


ModuleState = table("modules", ModuleStateColumns)


class TaskHistoryColumns(Columns):
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


event.listen(metadata, "after_create", create_counting)
