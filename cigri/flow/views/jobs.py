"""Jobs, the tasks they carry, and each attempt.
Read by: users.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, and_, bindparam, case, func, select, true
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.api_models.jobs import ClusterJobView, JobView
from cigri.api_models.tasks import AttemptView, TaskView
from cigri.database import is_one_of
from cigri.database.typed_rows import null_column, read_all, read_one
from cigri.flow.holds import is_job_held
from cigri.flow.views.ownership import is_seen
from cigri.flow.views.page_sizes import count_in_page, count_leading, leading
from cigri.identity.callers import Caller
from cigri.resources.own_amounts import OWN_KEY
from cigri.states import JobKind, JobState, Outcome, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.job_requests import CheckpointRequest, KillRequest
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task, TaskHistory

RESULTS = (Outcome.SUCCESS, Outcome.DOUBTFUL)
_IS_LIVE = Job.c.state != JobState.ENDED
_IS_HALTED = and_(_IS_LIVE, Job.c.halted_since.is_not(None))


def list_tasks(conn: Connection, campaign_id: int, first: int, number: int) -> list[TaskView]:
    """`number` tasks of a campaign from the number `first` on, in order, archived or not."""
    last = first + number - 1
    chosen = _tasks().where(Task.c.campaign_id == campaign_id, Task.c.number.between(first, last))
    if tasks := read_all(conn, TaskView, chosen.order_by(Task.c.number)):
        return tasks
    row = TaskHistory
    old = _archived().where(row.c.campaign_id == campaign_id, row.c.number.between(first, last))
    return read_all(conn, TaskView, old.order_by(row.c.number))


def list_tasks_of(
    conn: Connection, campaign_id: int, numbers: Sequence[int], *, is_descending: bool = False
) -> list[TaskView]:
    """The tasks of these numbers, in order, archived or not: as many as fit into a page."""
    order, order_of_old = Task.c.number.asc(), TaskHistory.c.number.asc()
    if is_descending:
        order, order_of_old = Task.c.number.desc(), TaskHistory.c.number.desc()
    chosen = _tasks().where(Task.c.campaign_id == campaign_id, is_one_of(Task.c.number, numbers)).order_by(order)
    if tasks := read_all(conn, TaskView, chosen.limit(count_leading(conn, chosen, Task.c.parameter, order))):
        return tasks
    row = TaskHistory.c
    old = _archived().where(row.campaign_id == campaign_id, is_one_of(row.number, numbers)).order_by(order_of_old)
    return read_all(conn, TaskView, old.limit(count_leading(conn, old, row.parameter, order_of_old)))


def list_latest_tasks(conn: Connection, campaign_id: int, number: int) -> list[TaskView]:
    """The tasks whose last jobs are the newest, at most `number` and a page, the newest first."""
    latest, asked = _latest_tasks(), {"campaign_id": campaign_id, "number": number}
    fitting = count_in_page(conn, latest.fitting, asked)
    return read_all(conn, TaskView, latest.tasks, asked | {"fitting": fitting})


class _LatestTasks(NamedTuple):
    """The tasks, and how many of them fit into a page."""

    tasks: Select[*tuple[Any, ...]]
    fitting: Select[int]


@cache
def _latest_tasks() -> _LatestTasks:
    """Built once: they take longer to build than to answer."""
    part, number = CampaignCluster, bindparam("number", type_=Integer)
    recent = (
        select(Job.c.id)
        .where(Job.c.campaign_id == part.c.campaign_id, Job.c.cluster_id == part.c.cluster_id)
        .order_by(Job.c.id.desc())
        .limit(number)
        .lateral()
    )
    ids = (
        select(recent.c.id).select_from(part).join(recent, true()).where(part.c.campaign_id == bindparam("campaign_id"))
    )
    newest = ids.order_by(recent.c.id.desc()).limit(number)
    order = Job.c.id.desc(), Attempt.c.position
    chosen = _tasks().where(Attempt.c.job_id.in_(newest)).order_by(*order).limit(number)
    fitting = bindparam("fitting", type_=Integer)
    return _LatestTasks(chosen.limit(fitting), leading(chosen, Task.c.parameter, *order))


def find_task(conn: Connection, task_id: int) -> TaskView | None:
    """None: there is no such task, or its campaign is archived."""
    return read_one(conn, TaskView, _tasks().where(Task.c.id == task_id))


def find_job(conn: Connection, job_id: int) -> JobView | None:
    """None: there is no such job, or its campaign is archived."""
    part = CampaignCluster.c
    statement = (
        select(
            Job.c.id,
            Job.c.campaign_id,
            Campaign.c.grid_user.label("user"),
            Job.c.kind,
            Job.c.state,
            Cluster.c.name.label("cluster"),
            Job.c.width,
            Job.c.walltime,
            Job.c.batch_id,
            Batch.c.tag,
            Job.c.array_index,
            Job.c.remote_id,
            Batch.c.local_user,
            Job.c.node,
            Job.c.created_at,
            Job.c.submitted_at,
            Job.c.started_at,
            Job.c.ended_at,
            Job.c.outcome,
            Job.c.exit_code,
            Job.c.reason,
            KillRequest.c.reason.label("kill"),
            KillRequest.c.asked_by.label("kill_asked_by"),
            CheckpointRequest.c.asked_at.label("checkpoint_asked_at"),
            CheckpointRequest.c.heard_at.label("checkpoint_heard_at"),
            Campaign.c.purged_at,
            case((_IS_LIVE, Job.c.halted_since)).label("halted_since"),
            and_(_IS_LIVE, is_job_held()).label("is_held"),
            case((Job.c.kind == JobKind.TASKS, _resources())).label("resources"),
            Batch.c.checkpoint_period,
            Batch.c.checkpoint_life,
            Batch.c.checkpoint_cost,
        )
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .join(CampaignCluster, and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id))
        .outerjoin(Batch, Batch.c.id == Job.c.batch_id)
        .outerjoin(Bucket, Bucket.c.id == Job.c.bucket_id)
        .outerjoin(KillRequest, KillRequest.c.job_id == Job.c.id)
        .outerjoin(CheckpointRequest, CheckpointRequest.c.job_id == Job.c.id)
        .where(Job.c.id == job_id)
    )
    return read_one(conn, JobView, statement)


def _resources() -> ColumnElement[Any]:
    """What is described, or what its tasks have in place of that."""
    described, own = CampaignCluster.c.settings["resources"], Bucket.c.requirements[OWN_KEY]["mem"]
    mem = func.jsonb_build_object("mem", own)
    return case((own.is_not(None), func.coalesce(described, func.jsonb_build_object()).concat(mem)), else_=described)


def list_cluster_jobs(
    conn: Connection, cluster_id: int, caller: Caller, after: int, limit: int
) -> list[ClusterJobView]:
    """Jobs that live on the cluster, of campaigns that the caller sees as their owners do, by number behind `after`."""
    statement = (
        select(
            Job.c.id,
            Job.c.campaign_id,
            Campaign.c.grid_user.label("user"),
            Job.c.kind,
            Job.c.state,
            is_job_held().label("is_held"),
            Job.c.width,
            Job.c.walltime,
            Job.c.remote_id,
            Job.c.node,
            Job.c.created_at,
            Job.c.submitted_at,
            Job.c.started_at,
        )
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .where(Job.c.cluster_id == cluster_id, _IS_LIVE, Job.c.id > after, is_seen(caller))
        .order_by(Job.c.id)
        .limit(limit)
    )
    return read_all(conn, ClusterJobView, statement)


def list_attempts_of_job(conn: Connection, job_id: int) -> list[AttemptView]:
    """Sorted by their place in the job."""
    return read_all(conn, AttemptView, _attempts().where(Attempt.c.job_id == job_id).order_by(Attempt.c.position))


def list_attempts_of_task(conn: Connection, task_id: int) -> list[AttemptView]:
    """Sorted by number, the first one first."""
    return read_all(conn, AttemptView, _attempts().where(Attempt.c.task_id == task_id).order_by(Attempt.c.number))


def _tasks() -> Select[*tuple[Any, ...]]:
    """Tasks, each with the attempt that was a success, or else the last."""
    shown = won_attempt(Task)
    return (
        select(
            Task.c.id,
            Task.c.campaign_id,
            Task.c.number,
            Task.c.parameter,
            Task.c.state,
            Task.c.attempts,
            Job.c.id.label("job_id"),
            Job.c.state.label("job_state"),
            Cluster.c.name.label("cluster"),
            Job.c.remote_id,
            Attempt.c.outcome,
            Attempt.c.exit_code,
            Attempt.c.started_at,
            Attempt.c.seconds,
            Job.c.node,
            _IS_HALTED.label("is_halted"),
        )
        .select_from(Task)
        .outerjoin(Attempt, and_(Attempt.c.task_id == Task.c.id, Attempt.c.number == shown))
        .outerjoin(Job, Job.c.id == Attempt.c.job_id)
        .outerjoin(Cluster, Cluster.c.id == Job.c.cluster_id)
    )


def won_attempt(tasks: Any) -> ColumnElement[int]:
    """The number of the attempt that was a success, or else the last, of rows with the columns of tasks."""
    other, task = Attempt.alias(), tasks.c
    won = select(other.c.number).where(other.c.task_id == task.id, other.c.outcome.in_(RESULTS)).correlate(tasks)
    return case((task.state == TaskState.DONE, won.scalar_subquery()), else_=task.attempts)


def _archived() -> Select[*tuple[Any, ...]]:
    row = TaskHistory
    return select(
        null_column("id", Task.c.id),
        row.c.campaign_id,
        row.c.number,
        row.c.parameter,
        row.c.state,
        row.c.attempts,
        null_column("job_id", Job.c.id),
        null_column("job_state", Job.c.state),
        Cluster.c.name.label("cluster"),
        null_column("remote_id", Job.c.remote_id),
        null_column("outcome", Attempt.c.outcome),
        row.c.exit_code,
        row.c.started_at,
        row.c.seconds,
        row.c.node,
        null_column("is_halted", _IS_HALTED),
    ).outerjoin(Cluster, Cluster.c.id == row.c.cluster_id)


def _attempts() -> Select[*tuple[Any, ...]]:
    return (
        select(
            Task.c.id.label("task_id"),
            Task.c.number.label("task_number"),
            Attempt.c.number,
            Attempt.c.is_replica,
            Job.c.id.label("job_id"),
            Attempt.c.position,
            Job.c.state.label("job_state"),
            Cluster.c.name.label("cluster"),
            Job.c.remote_id,
            Job.c.node,
            Attempt.c.outcome,
            Attempt.c.exit_code,
            Attempt.c.started_at,
            Attempt.c.seconds,
            Job.c.reason,
            Task.c.parameter,
            _IS_HALTED.label("is_halted"),
            Batch.c.inputs_version,
            Attempt.c.halted_seconds,
            Attempt.c.peak_memory,
        )
        .select_from(Attempt)
        .join(Task, Task.c.id == Attempt.c.task_id)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .outerjoin(Batch, Batch.c.id == Job.c.batch_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
    )
