"""What is sent to clusters: batches of jobs, and the attempts at tasks that they carry."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, Named, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB

from cigri.states import BatchState, JobKind, JobState, Outcome
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table


class BatchColumns(NumberedColumns):
    """One submission: an array named `tag`, committed before anything is submitted.

    Where the grid chose how often its tasks save their state: each `checkpoint_period` seconds, as such jobs are killed
    after `checkpoint_life` seconds in the mean, and a checkpoint takes `checkpoint_cost`.
    `promised_notice`: its jobs hear of a shutdown so many seconds before; None: of an earlier version, nobody knows.
    `inputs_version`: of the inputs of its campaign there, those which its tasks find.
    `served_features`: what the portal tells its jobs, `machine` and `job`, by an address of which `sha256` is the hash;
    None: nothing.
    """

    tag: Named[str] = Column(unique=True)
    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    cluster_id: Named[int] = Column(ForeignKey("clusters.id"))
    local_user: Named[str]
    state: Named[BatchState] = Column(one_of(BatchState))
    size: Named[int]
    created_at: Named[datetime]
    settled_at: Named[datetime | None]
    checkpoint_period: Named[int | None]
    checkpoint_life: Named[float | None]
    checkpoint_cost: Named[float | None]
    promised_notice: Named[int | None]
    inputs_version: Named[int] = Column(server_default="1")
    served_features: Named[dict[str, Any] | None] = Column(JSONB(none_as_null=True))


Batch = table(
    "batches",
    BatchColumns,
    CheckConstraint("(state = 'launching') = (settled_at IS NULL)", name="settled"),
    CheckConstraint("size > 0", name="size"),
    CheckConstraint(
        "num_nulls(checkpoint_period, checkpoint_life, checkpoint_cost) IN (0, 3) AND checkpoint_period > 0",
        name="checkpoint",
    ),
    Index("ix_batches_launching", "cluster_id", postgresql_where="state = 'launching'"),
    Index("ix_batches_submitted", "settled_at", postgresql_where="state = 'submitted'"),
    Index(None, "campaign_id"),
)


class JobColumns(NumberedColumns):
    """One attempt on one cluster: element `array_index` of a batch, carrying one or several tasks (attempts).

    `running_from`: when it was seen to run for the first time. `ran_seconds`: how long it ran by one clock, but for the
    time that it stood still; None of one that never ran, as far as is known.
    `has_begun`: its cluster took it for running for so long that its start was looked for, and found or not; None: not
    looked for. A job that is requeued is looked for anew.
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
    running_from: Named[datetime | None]
    ran_seconds: Named[float | None]
    has_begun: Named[bool | None]


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
    CheckConstraint("ran_seconds >= 0 AND (ran_seconds IS NULL OR state = 'ended')", name="ran_seconds"),
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


class AttemptColumns(TableColumns):
    """One try of one task, carried by a job at `position`; live while `outcome` is null.

    A replica was begun while another attempt lived; the first success of them is the task's. `files` and `bytes` are
    those of its outputs, which lie on the cluster. `seconds` are those for which it ran, after the `halted_seconds` for
    which it stood still are subtracted. `peak_memory`: the most bytes of memory that it was seen with; null: not seen.
    """

    task_id: Named[int] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    number: Named[int] = Column(primary_key=True)
    job_id: Named[int] = Column(ForeignKey("jobs.id", ondelete="CASCADE"))
    position: Named[int]
    is_replica: Named[bool] = Column(server_default="false")
    outcome: Named[Outcome | None] = Column(one_of(Outcome))
    exit_code: Named[int | None]
    started_at: Named[datetime | None]
    seconds: Named[float | None]
    files: Named[int] = Column(server_default="0")
    bytes: Named[int] = Column(server_default="0")
    halted_seconds: Named[float] = Column(server_default="0")
    peak_memory: Named[int | None]


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
    Index("ix_attempts_replicas", "task_id", postgresql_where="is_replica"),
)


class OutcomeCountColumns(NumberedColumns):
    """How many attempts and jobs have ended so on a cluster since the grid began, and the core-seconds of these jobs.

    Several rows may count the same: who ends something appends, the predictor adds up.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    outcome: Named[Outcome] = Column(one_of(Outcome))
    is_replica: Named[bool]
    attempts: Named[int]
    jobs: Named[int]
    core_seconds: Named[float]


OutcomeCount = table("end_counts", OutcomeCountColumns)


class AccountingColumns(NumberedColumns):
    """Jobs of somebody that ended so on a `day` (in UTC, which it begins), and the core-seconds of such jobs in it.

    `asked` are the core-seconds of their walltimes, of jobs that ended on the day; `type` is the campaign's there, or
    empty: of jobs that were archived before it was accounted for. Who ends something appends, the predictor adds up:
    there is one sum of each, and what is not in it yet. Names stand in it as they were, so that it outlives what they
    name.
    """

    day: Named[datetime]
    grid_user: Named[str]
    project: Named[str]
    cluster: Named[str]
    outcome: Named[Outcome] = Column(one_of(Outcome))
    is_replica: Named[bool]
    jobs: Named[int]
    core_seconds: Named[float]
    is_sum: Named[bool] = Column(server_default="false")
    type: Named[str] = Column(server_default="")
    asked: Named[float] = Column(server_default="0")


ACCOUNTED_ALIKE = ("day", "grid_user", "project", "cluster", "outcome", "is_replica", "type")
Accounting = table(
    "accounting",
    AccountingColumns,
    Index("ix_accounting_sums", *ACCOUNTED_ALIKE, unique=True, postgresql_where="is_sum"),
    Index("ix_accounting_news", "id", postgresql_where="NOT is_sum"),
)


class ArchivedAccountingColumns(NumberedColumns):
    """What accounting has of jobs that are here no longer: from it and from the ended jobs it can be rebuilt.

    The statement that archives the jobs of a campaign adds them. What was archived before there was such a table is in
    it as far as accounting knew of it.
    """

    day: Named[datetime]
    grid_user: Named[str]
    project: Named[str]
    cluster: Named[str]
    outcome: Named[Outcome] = Column(one_of(Outcome))
    is_replica: Named[bool]
    jobs: Named[int]
    core_seconds: Named[float]
    type: Named[str] = Column(server_default="")
    asked: Named[float] = Column(server_default="0")


ArchivedAccounting = table(
    "archived_accounting",
    ArchivedAccountingColumns,
    Index("uq_archived_accounting", *ACCOUNTED_ALIKE, unique=True),
)
