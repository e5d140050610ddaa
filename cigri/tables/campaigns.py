"""Campaigns, their shares of clusters, how far they are and how they are forecast to go on."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    Computed,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Named,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB

from cigri.states import CampaignState, CampaignType, StepState
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table

IS_UNMATCHED = "unmatched_from IS NOT NULL AND state = 'in_treatment'"
ASKING = ("resources", "walltime", "type", "types", "queue", "properties", "backend")  # settings told to batch systems
ASKED = " || '/' || ".join(f"coalesce((settings -> '{name}')::text, '')" for name in ASKING)
IS_FURNISHED = "tasks_have_inputs AND state = 'in_treatment'"
FOLLOWS_HOURS = "settings ->> 'type' IN ('nightly', 'semi-best-effort')"


class CampaignColumns(NumberedColumns):
    """`served_at`: when jobs were last made of its tasks. `priority` is the operator's, `own_priority` its user's.

    At its end tasks may have `max_replicas` more attempts at a time, which may burn `replica_budget` of the
    core-seconds that all have used; both null: none. `wanted`: its requirements as they were written. `anywhere`: the
    grid chooses its clusters, and these (NewCampaignCluster by name) get it as soon as they are eligible. Its tasks
    from number `unmatched_from` on have not been looked up among those of earlier campaigns; null: all have. `written`:
    its description as `gridsub` takes it, in its order, without parameters that only the tasks hold; null: from before.
    `submission_key`: what its user sent to ask again whether it is stored, together with what has `submission_digest`.
    `is_begin_told`: there is an event of its first job, for those who have subscribed. `tasks_have_inputs`: each of its
    tasks runs where its own inputs are (task_places). `sent_from`: where relative paths of its inputs began, on
    the host of its user. `forgotten_at`: lists leave it out, for its user has no more use for it.
    """

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
    replica_budget: Named[float | None]
    max_replicas: Named[int | None]
    wanted: Named[Any] = Column(JSONB(none_as_null=True), nullable=True)
    anywhere: Named[dict[str, Any] | None] = Column(JSONB(none_as_null=True))
    unmatched_from: Named[int | None] = Column(server_default="0")
    own_priority: Named[int] = Column(server_default="0")
    written: Named[dict[str, Any] | None] = Column(JSON(none_as_null=True))
    submission_key: Named[str | None]
    submission_digest: Named[str | None]
    tasks_have_inputs: Named[bool] = Column(server_default="false")
    is_begin_told: Named[bool] = Column(server_default="false")
    sent_from: Named[str | None]
    forgotten_at: Named[datetime | None]


Campaign = table(
    "campaigns",
    CampaignColumns,
    CheckConstraint("(state IN ('terminated', 'cancelled')) = (ended_at IS NOT NULL)", name="ended"),
    CheckConstraint("forgotten_at IS NULL OR ended_at IS NOT NULL", name="forgotten"),
    CheckConstraint("(replica_budget IS NULL) = (max_replicas IS NULL)", name="replicas"),
    CheckConstraint("replica_budget > 0 AND replica_budget <= 1 AND max_replicas > 0", name="replica_budget"),
    Index("ix_campaigns_open", "id", postgresql_where="state = 'in_treatment'"),
    Index("ix_campaigns_unmatched", "id", postgresql_where=IS_UNMATCHED),
    Index("ix_campaigns_furnished", "id", postgresql_where=IS_FURNISHED),
    Index(None, "grid_user", "id"),
    Index(None, "grid_user", "submission_key", postgresql_where="submission_key IS NOT NULL"),
)


class CampaignClusterColumns(TableColumns):
    """A campaign on one of its clusters: settings (ClusterSettings), steps, totals of ended tasks, error budget.

    `errors` counts failures since the last success; `strikes` how often in a row the budget was used up; `failed_sends`
    the submissions in a row that failed in words that nobody knows; `idle_deaths` the visits in a row that found jobs
    dead without having done anything.
    Totals (`done`, `seconds`, `squares`, in s and s^2 of successful tasks) are what forecasts are made of;
    `durations` counts the same tasks by duration, in the bins of estimates/durations.py. Of them all, `doubted` tasks
    are left out, which ended within `doubted_below` seconds; that stays known when somebody has said what to do with
    them. `sink_since`: the cluster is set aside for this. `is_trusted`: a user has said that tasks may be so short
    there. `speed`: how fast tasks of the same command were there in earlier campaigns, 1 as usual; null: nobody knows.
    Of those done, `known` were expected to take `expected` seconds in all, at speed 1: estimates/speeds.py. `asked`:
    the same number for all settings that ask the batch system for the same. `lacks_inputs`: files that its tasks need
    are not known to be there. Of its parcels (parcels.py) there so many are `uncollected`, `collected` and `lost`;
    `outputs_wait`: the cluster gives it no new jobs before more of them have come. Of successful tasks, `profiled` have
    told what they used in `profiled_seconds`: seconds of processors (`cpu`), bytes read and written; in all, `most`.
    The inputs in its settings are the version `inputs_version` of them: those before are in earlier_inputs. What was
    collected takes `stored_bytes` in the grid's store. `most_memory`: bytes, of the task that was seen with most.
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
    doubted: Named[int] = Column(server_default="0")
    doubted_below: Named[float | None]
    sink_since: Named[datetime | None]
    is_trusted: Named[bool] = Column(server_default="false")
    speed: Named[float | None]
    known: Named[int] = Column(server_default="0")
    expected: Named[float] = Column(server_default="0")
    asked: Named[int] = Column(Computed(f"hashtextextended({ASKED}, 0)", persisted=True))
    lacks_inputs: Named[bool] = Column(server_default="false")
    uncollected: Named[int] = Column(server_default="0")
    uncollected_bytes: Named[int] = Column(server_default="0")
    collected: Named[int] = Column(server_default="0")
    lost: Named[int] = Column(server_default="0")
    outputs_wait: Named[bool] = Column(server_default="false")
    profiled: Named[int] = Column(server_default="0")
    profiled_seconds: Named[float] = Column(server_default="0")
    cpu: Named[float] = Column(server_default="0")
    most_cpu: Named[float] = Column(server_default="0")
    bytes_read: Named[float] = Column(server_default="0")
    most_read: Named[float] = Column(server_default="0")
    bytes_written: Named[float] = Column(server_default="0")
    most_written: Named[float] = Column(server_default="0")
    failed_sends: Named[int] = Column(server_default="0")
    idle_deaths: Named[int] = Column(server_default="0")
    inputs_version: Named[int] = Column(server_default="1")
    stored_bytes: Named[int] = Column(server_default="0")
    most_memory: Named[int | None]


CampaignCluster = table(
    "campaign_clusters",
    CampaignClusterColumns,
    CheckConstraint("width > 0", name="width"),
    CheckConstraint("max_jobs > 0", name="max_jobs"),
    CheckConstraint("doubted >= 0", name="doubted"),
    CheckConstraint("sink_since IS NULL OR doubted_below IS NOT NULL", name="sink"),
    CheckConstraint("speed > 0", name="speed"),
    CheckConstraint("uncollected >= 0 AND uncollected_bytes >= 0", name="uncollected"),
    Index(None, "cluster_id"),
    Index("ix_campaign_clusters_hours", "campaign_id", postgresql_where=FOLLOWS_HOURS),
    Index("ix_campaign_clusters_lacking", "campaign_id", postgresql_where="lacks_inputs"),
    Index("ix_campaign_clusters_collecting", "cluster_id", postgresql_where="uncollected > 0"),
    Index("ix_campaign_clusters_stored", "campaign_id", postgresql_where="stored_bytes > 0 OR uncollected > 0"),
)


class BucketColumns(NumberedColumns):
    """Tasks of a campaign that ask for the same resources; `cluster_id`: it is a test, and these are for that cluster.

    Null: any of the campaign's clusters may take them.
    """

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    requirements: Named[dict[str, Any]] = Column(JSONB)
    cluster_id: Named[int | None] = Column(ForeignKey("clusters.id"))


Bucket = table(
    "buckets",
    BucketColumns,
    UniqueConstraint("id", "campaign_id"),
    Index("uq_buckets_anywhere", "campaign_id", "requirements", unique=True, postgresql_where="cluster_id IS NULL"),
    Index("uq_buckets_tested", "campaign_id", "cluster_id", unique=True, postgresql_where="cluster_id IS NOT NULL"),
)


class BucketAverageColumns(TableColumns):
    """The moving average of the seconds of successful tasks of a bucket on a cluster: cigri/estimates/durations.py."""

    bucket_id: Named[int] = Column(ForeignKey("buckets.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    weight: Named[int]
    seconds: Named[float]


BucketAverage = table(
    "bucket_averages", BucketAverageColumns, CheckConstraint("weight > 0 AND weight <= 100", name="weight")
)


class CompletionColumns(TableColumns):
    """Successful tasks per campaign, cluster and minute, from which throughput is read."""

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    cluster_id: Named[int] = Column(ForeignKey("clusters.id"), primary_key=True)
    minute: Named[datetime] = Column(primary_key=True)
    tasks: Named[int]


Completion = table("completions", CompletionColumns)


class ForecastColumns(NumberedColumns):
    """A forecast of a campaign on one cluster, or on all (cluster_id null): the present one, and in the history.

    ratio: jobs per core; throughput: tasks per hour; mean, deviation, median, p95: seconds of a successful task.
    keep: jobs kept waiting there behind what can start at once; send: jobs to send in this cycle whatever is free; both
    null: as the cluster is configured. The end lies between eta_low and eta_high with a probability of 90 %.
    memory: what the algorithm keeps for itself; submitted: jobs sent since the forecast before; free: cores now.
    Of a campaign as a whole, pressure: seconds of the critical path to its end; published: its end as others are told.
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
    pressure: Named[float | None]
    published: Named[datetime | None]


Forecast = table(
    "forecasts",
    ForecastColumns,
    Index("uq_forecasts_cluster", "campaign_id", "cluster_id", unique=True),
    Index("uq_forecasts_campaign", "campaign_id", unique=True, postgresql_where="cluster_id IS NULL"),
    CheckConstraint("ratio > 0", name="ratio"),
    CheckConstraint("keep >= 0 AND send >= 0", name="jobs"),
    CheckConstraint("eta_low <= eta AND eta <= eta_high", name="interval"),
    CheckConstraint("pressure >= 0", name="pressure"),
)


class ForecastHistoryColumns(ForecastColumns):
    """What was forecast then, and how the campaign stood: `cores` that its running jobs had on the cluster, or in all.

    Of a campaign as a whole, `done` and `failed`: its tasks in these states. Null: it is from before they were kept.
    """

    cores: Named[int | None]
    done: Named[int | None]
    failed: Named[int | None]


ForecastHistory = table("forecast_history", ForecastHistoryColumns, Index(None, "campaign_id", "at"))


class HoldColumns(NumberedColumns):
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
