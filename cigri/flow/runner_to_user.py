"""A user looks at the jobs that the runner launched, at the tasks they carry, and at each attempt."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, null, select, true
from sqlalchemy.sql.selectable import Select

from cigri.states import JobKind, JobState, KillReason, Outcome, TaskState
from cigri.tables import Attempt, Batch, Campaign, CampaignCluster, Cluster, Job, Kill, Task, TaskHistory


class TaskView(NamedTuple):
    """A task and its last attempt; `id` and what is known of the job are None once the campaign is archived."""

    id: int | None
    campaign_id: int
    number: int
    parameter: object
    state: TaskState
    attempts: int
    job_id: int | None
    job_state: JobState | None
    cluster: str | None
    remote_id: str | None
    outcome: Outcome | None
    exit_code: int | None
    started_at: datetime | None
    seconds: float | None
    node: str | None


class AttemptView(NamedTuple):
    """One try of a task; `position` is its place in the job."""

    task_id: int
    task_number: int
    number: int
    is_replica: bool
    job_id: int
    position: int
    job_state: JobState
    cluster: str
    remote_id: str | None
    node: str | None
    outcome: Outcome | None
    exit_code: int | None
    started_at: datetime | None
    seconds: float | None
    reason: str | None
    parameter: object


class JobView(NamedTuple):
    """A job; `kill` is why somebody wanted it dead, `purged_at` when its campaign's files left the clusters."""

    id: int
    campaign_id: int
    user: str
    kind: JobKind
    state: JobState
    cluster: str
    width: int
    walltime: int
    batch_id: int | None
    tag: str | None
    array_index: int | None
    remote_id: str | None
    local_user: str | None
    node: str | None
    created_at: datetime
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    outcome: Outcome | None
    exit_code: int | None
    reason: str | None
    kill: KillReason | None
    kill_asked_by: str | None
    purged_at: datetime | None


def list_tasks(conn: Connection, campaign_id: int, first: int, number: int) -> list[TaskView]:
    """`number` tasks of a campaign from the number `first` on, in order, archived or not."""
    last = first + number - 1
    chosen = _tasks().where(Task.campaign_id == campaign_id, Task.number.between(first, last))
    found = conn.execute(chosen.order_by(Task.number)).all()
    if not found:
        row = TaskHistory
        old = _archived().where(row.campaign_id == campaign_id, row.number.between(first, last))
        found = conn.execute(old.order_by(row.number)).all()
    return [TaskView._make(row) for row in found]


def list_latest_tasks(conn: Connection, campaign_id: int, number: int) -> list[TaskView]:
    """The tasks whose last jobs are the newest, at most `number`, the newest first."""
    part = CampaignCluster
    recent = (
        select(Job.id)
        .where(Job.campaign_id == part.campaign_id, Job.cluster_id == part.cluster_id)
        .order_by(Job.id.desc())
        .limit(number)
        .lateral()
    )
    ids = select(recent.c.id).select_from(part).join(recent, true()).where(part.campaign_id == campaign_id)
    newest = ids.order_by(recent.c.id.desc()).limit(number)
    chosen = _tasks().where(Attempt.job_id.in_(newest)).order_by(Job.id.desc(), Attempt.position).limit(number)
    return [TaskView._make(row) for row in conn.execute(chosen)]


def find_task(conn: Connection, task_id: int) -> TaskView | None:
    row = conn.execute(_tasks().where(Task.id == task_id)).one_or_none()
    return TaskView._make(row) if row else None


def find_job(conn: Connection, job_id: int) -> JobView | None:
    statement = (
        select(
            Job.id,
            Job.campaign_id,
            Campaign.grid_user,
            Job.kind,
            Job.state,
            Cluster.name,
            Job.width,
            Job.walltime,
            Job.batch_id,
            Batch.tag,
            Job.array_index,
            Job.remote_id,
            Batch.local_user,
            Job.node,
            Job.created_at,
            Job.submitted_at,
            Job.started_at,
            Job.ended_at,
            Job.outcome,
            Job.exit_code,
            Job.reason,
            Kill.reason,
            Kill.asked_by,
            Campaign.purged_at,
        )
        .join(Campaign, Campaign.id == Job.campaign_id)
        .join(Cluster, Cluster.id == Job.cluster_id)
        .outerjoin(Batch, Batch.id == Job.batch_id)
        .outerjoin(Kill, Kill.job_id == Job.id)
        .where(Job.id == job_id)
    )
    row = conn.execute(statement).one_or_none()
    return JobView._make(row) if row else None


def list_attempts_of_job(conn: Connection, job_id: int) -> list[AttemptView]:
    """In the order in which the job runs its tasks."""
    found = conn.execute(_attempts().where(Attempt.job_id == job_id).order_by(Attempt.position))
    return [AttemptView._make(row) for row in found]


def list_attempts_of_task(conn: Connection, task_id: int) -> list[AttemptView]:
    """From the first to the last."""
    found = conn.execute(_attempts().where(Attempt.task_id == task_id).order_by(Attempt.number))
    return [AttemptView._make(row) for row in found]


def _tasks() -> Select[*tuple[Any, ...]]:
    return (
        select(
            Task.id,
            Task.campaign_id,
            Task.number,
            Task.parameter,
            Task.state,
            Task.attempts,
            Job.id,
            Job.state,
            Cluster.name,
            Job.remote_id,
            Attempt.outcome,
            Attempt.exit_code,
            Attempt.started_at,
            Attempt.seconds,
            Job.node,
        )
        .select_from(Task)
        .outerjoin(Attempt, and_(Attempt.task_id == Task.id, Attempt.number == Task.attempts))
        .outerjoin(Job, Job.id == Attempt.job_id)
        .outerjoin(Cluster, Cluster.id == Job.cluster_id)
    )


def _archived() -> Select[*tuple[Any, ...]]:
    row = TaskHistory
    return select(
        null(),
        row.campaign_id,
        row.number,
        row.parameter,
        row.state,
        row.attempts,
        null(),
        null(),
        Cluster.name,
        null(),
        null(),
        row.exit_code,
        row.started_at,
        row.seconds,
        row.node,
    ).outerjoin(Cluster, Cluster.id == row.cluster_id)


def _attempts() -> Select[*tuple[Any, ...]]:
    return (
        select(
            Task.id,
            Task.number,
            Attempt.number,
            Attempt.is_replica,
            Job.id,
            Attempt.position,
            Job.state,
            Cluster.name,
            Job.remote_id,
            Job.node,
            Attempt.outcome,
            Attempt.exit_code,
            Attempt.started_at,
            Attempt.seconds,
            Job.reason,
            Task.parameter,
        )
        .select_from(Attempt)
        .join(Task, Task.id == Attempt.task_id)
        .join(Job, Job.id == Attempt.job_id)
        .join(Cluster, Cluster.id == Job.cluster_id)
    )
