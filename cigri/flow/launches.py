"""Launches: jobs made of tasks, each for a cluster, until they travel as batches.
Given by: campaign schedulers; taken by: runner.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ARRAY, BigInteger, Connection, and_, bindparam, false, func, insert, literal, or_, select, update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select, TableValuedAlias

from cigri.database import IDS, bound_values_table, interval, rows_as_json, values_table
from cigri.database.typed_rows import read_all, read_by
from cigri.estimates.checkpoint_interval import CheckpointInterval
from cigri.flow.ceilings import fitting, lock_ceilings
from cigri.flow.holds import is_job_held
from cigri.flow.input_versions import EarlierInput, list_earlier_inputs
from cigri.flow.task_inputs import list_task_inputs
from cigri.flow.tasks import WaitingTask
from cigri.resources.bucket_amounts import Formulas, formulas_of
from cigri.resources.own_amounts import OWN_KEY, with_own_amounts
from cigri.states import BatchState, CampaignState, CampaignType, JobKind, JobState, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster, Forecast
from cigri.tables.clusters import Cluster, UserMapping
from cigri.tables.grid import Project
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task
from cigri.tables.transitions import initial_state, transition_to

ATTEMPT = ("task_id", "number", "job_id", "position")
NEW_JOB = ("n", "cluster_id", "bucket_id", "width", "walltime")


class NewJob(NamedTuple):
    """A job for one cluster that carries these tasks, and runs `side` of them at a time."""

    cluster_id: int
    width: int
    walltime: int
    tasks: Sequence[WaitingTask]
    side: int = 1


class LaunchGroup(NamedTuple):
    """Jobs that may travel in one batch: same campaign, cluster, bucket, kind and width; the settings they share.

    `estimate`: seconds that a task takes there, as forecast; `start_by`: when its last task has to start. `amounts`:
    exactly what each of the jobs is given of the resources that the description computes for each task. `bucket_id`
    None: they carry no tasks. `inputs`: by number of a task, the sums of the files that it takes along. `rhythm`: how
    often the grid has chosen to ask for checkpoints. `inputs_version`: of the inputs in `settings`; `replaced`: what
    was there before, by the names of inputs.
    """

    campaign_id: int
    campaign_name: str
    campaign_type: CampaignType
    grid_user: str
    local_user: str
    project: str
    estimate: float | None
    start_by: datetime | None
    kind: JobKind
    settings: Mapping[str, Any]
    jobs: Sequence["LaunchJob"]
    amounts: Mapping[str, int] = MappingProxyType({})
    bucket_id: int | None = None
    inputs: Mapping[int, Sequence[str]] = MappingProxyType({})
    rhythm: CheckpointInterval | None = None
    inputs_version: int = 1
    replaced: Mapping[str, Sequence[EarlierInput]] = MappingProxyType({})


class LaunchJob(NamedTuple):
    id: int
    width: int
    walltime: int
    tasks: Sequence["LaunchTask"]


class LaunchTask(NamedTuple):
    """`continues`: a checkpoint of it is on the job's cluster."""

    id: int
    number: int
    attempt: int
    parameter: object
    priority: int
    continues: bool


class _CarriedTask(NamedTuple):
    job_id: int
    task: LaunchTask


class _LaunchSettings(NamedTuple):
    """What of a LaunchGroup is the same for all jobs of its campaign on a cluster."""

    name: str
    type: CampaignType
    grid_user: str
    local_user: str
    project: str
    estimate: float | None
    start_by: datetime | None
    settings: Mapping[str, Any]
    inputs_version: int


def put_jobs(conn: Connection, campaign_id: int, jobs: Sequence[NewJob]) -> int:
    """Assign locked tasks to new jobs; each task gets its next attempt. Those of jobs above a ceiling go on waiting."""
    jobs = _under_ceilings(conn, campaign_id, jobs)
    if not jobs:
        return 0
    chosen = _create(conn, campaign_id, jobs)
    conn.execute(
        transition_to(Task.c.state, TaskState.ASSIGNED)
        .where(Task.c.id == chosen.c.task_id)
        .values(attempts=Task.c.attempts + 1)
    )
    _attempt(conn, chosen, is_replica=False)
    conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(served_at=func.now()))
    return len(jobs)


def put_replicas(conn: Connection, campaign_id: int, jobs: Sequence[NewJob]) -> int:
    """One more attempt, in a job of its own, at tasks that are in jobs already; give the number of jobs made.

    Left out is what has become of somebody else's concern meanwhile: a task that is being settled, or has ended, or has
    got another attempt; and what is above a ceiling.
    """
    wanted = [job.tasks[0].id for job in jobs]
    locked = select(Task.c.id, Task.c.attempts).where(Task.c.id.in_(wanted), Task.c.state == TaskState.ASSIGNED)
    tasks = conn.execute(locked.order_by(Task.c.id).with_for_update(skip_locked=True, key_share=True))
    attempts = {task_id: number for task_id, number in tasks}
    jobs = [job for job in jobs if attempts.get(job.tasks[0].id) == job.tasks[0].attempts]
    jobs = _under_ceilings(conn, campaign_id, jobs)
    if not jobs:
        return 0
    chosen = _create(conn, campaign_id, jobs)
    conn.execute(update(Task).where(Task.c.id == chosen.c.task_id).values(attempts=Task.c.attempts + 1))
    _attempt(conn, chosen, is_replica=True)
    return len(jobs)


def _under_ceilings(conn: Connection, campaign_id: int, jobs: Sequence[NewJob]) -> list[NewJob]:
    if not jobs:
        return []
    fits = fitting(lock_ceilings(conn, campaign_id), campaign_id, [(job.cluster_id, job.side) for job in jobs])
    return [job for job, is_under in zip(jobs, fits, strict=True) if is_under]


def _create(conn: Connection, campaign_id: int, jobs: Sequence[NewJob]) -> TableValuedAlias:
    """Jobs to launch, and as a table the attempts that they carry."""
    new = values_table(
        "new",
        dict.fromkeys(NEW_JOB, BigInteger()),
        [(n, job.cluster_id, job.tasks[0].bucket_id, job.width, job.walltime) for n, job in enumerate(jobs)],
    )
    same: dict[str, ColumnElement[Any]] = {
        "campaign_id": literal(campaign_id, BigInteger),
        "kind": literal(JobKind.TASKS, Job.c.kind.type),
        "state": literal(initial_state(Job.c.state, JobState.TO_LAUNCH), Job.c.state.type),
        "created_at": func.now(),
    }
    own = Bucket.c.requirements[OWN_KEY]["walltime"].as_integer()
    columns = [*same.values(), *(new.c[name] for name in NEW_JOB[1:-1]), func.coalesce(own, new.c.walltime)]
    values = select(*columns).join(Bucket, Bucket.c.id == new.c.bucket_id).order_by(new.c.n)
    statement = insert(Job).from_select([*same, *NEW_JOB[1:]], values).returning(Job.c.id)
    created = sorted(conn.execute(statement).scalars())  # they are numbered in this order
    attempts = [
        (task.id, task.attempts + 1, job_id, position)
        for job_id, job in zip(created, jobs, strict=True)
        for position, task in enumerate(job.tasks, start=1)
    ]
    return values_table("chosen", dict.fromkeys(ATTEMPT, BigInteger()), attempts)


def _attempt(conn: Connection, chosen: TableValuedAlias, *, is_replica: bool) -> None:
    values = select(*(chosen.c[name] for name in ATTEMPT), literal(is_replica))
    conn.execute(insert(Attempt).from_select([*ATTEMPT, "is_replica"], values))


def list_busy(conn: Connection) -> dict[int, bool]:
    """Clusters that have jobs to launch, or (True) batches of which nobody knows yet whether they were submitted."""
    jobs = select(Job.c.id).where(Job.c.cluster_id == Cluster.c.id, Job.c.state == JobState.TO_LAUNCH)
    batches = select(Batch.c.id).where(Batch.c.cluster_id == Cluster.c.id, Batch.c.state == BatchState.LAUNCHING)
    is_unclear = batches.exists()
    busy = select(Cluster.c.id, is_unclear).where(or_(jobs.exists(), is_unclear))
    return {cluster_id: unclear for cluster_id, unclear in conn.execute(busy)}


def list_launches(
    conn: Connection, cluster_id: int, limit: int, max_array: int, max_tasks: int = 20_000
) -> list[LaunchGroup]:
    """Jobs to launch on a cluster, oldest first, `limit` in all, in groups of at most `max_array`.

    With as many tasks as can be sent in one command: `max_tasks`, unless the first job alone has more.
    """
    to_launch = conn.execute(_to_launch(), {"here": cluster_id, "most": limit}).all()
    if not to_launch:
        return []
    totals = accumulate(row.tasks for row in to_launch)
    chosen = [row for row, total in zip(to_launch, totals, strict=True) if total <= max_tasks] or to_launch[:1]
    tasks = _tasks_of(conn, [row.id for row in chosen])
    campaigns = _describe(conn, cluster_id, {row.campaign_id for row in chosen})
    inputs = {}
    for campaign_id in [id for id, campaign in campaigns.items() if campaign.settings.get("task_inputs")]:
        jobs_of = [row.id for row in chosen if row.campaign_id == campaign_id]
        numbers = {task.number for job_id in jobs_of for task in tasks.get(job_id, ())}
        inputs[campaign_id] = list_task_inputs(conn, campaign_id, numbers)
    again = [id for id, campaign in campaigns.items() if campaign.inputs_version > 1]
    replaced = list_earlier_inputs(conn, cluster_id, again) if again else {}
    formulas = {campaign_id: formulas_of(campaign.settings) for campaign_id, campaign in campaigns.items()}
    groups: dict[tuple[Any, ...], list[LaunchJob]] = {}
    for row in chosen:
        carried = tasks.get(row.id, ())
        amounts = _amounts(formulas[row.campaign_id], carried)
        own = tuple(sorted((row.own or {}).items()))
        key = (row.campaign_id, row.kind, tuple(amounts.items()), row.bucket_id, own, row.width, row.walltime)
        groups.setdefault(key, []).append(LaunchJob(row.id, row.width, row.walltime, carried))
    launches = []
    for (campaign_id, kind, amounts, bucket_id, own, *_), jobs in groups.items():
        campaign = campaigns[campaign_id]
        launches += [
            LaunchGroup(
                campaign_id=campaign_id,
                campaign_name=campaign.name,
                campaign_type=campaign.type,
                grid_user=campaign.grid_user,
                local_user=campaign.local_user,
                project=campaign.project,
                estimate=campaign.estimate,
                start_by=campaign.start_by,
                kind=kind,
                settings=with_own_amounts(campaign.settings, dict(own)),
                jobs=jobs[first : first + max_array],
                amounts=dict(amounts),
                bucket_id=bucket_id,
                inputs=inputs.get(campaign_id, {}),
                inputs_version=campaign.inputs_version,
                replaced=replaced.get(campaign_id, {}),
            )
            for first in range(0, len(jobs), max_array)
        ]
    return launches


def _amounts(formulas: Formulas, tasks: Sequence[LaunchTask]) -> dict[str, int]:
    """Exactly what a job of these tasks is given of what is computed for each."""
    if not formulas:
        return {}
    from cigri.jdl.task_amounts import exact_together  # commands that only look are not slowed down by it

    return exact_together(formulas, ((task.parameter, task.number) for task in tasks))


@cache
def _to_launch() -> Select[*tuple[Any, ...]]:
    tasks_of = select(func.count()).where(Attempt.c.job_id == Job.c.id).scalar_subquery().label("tasks")
    part = CampaignCluster.c
    lacking = select(part.campaign_id).where(  # others were sent for inputs that were there
        part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id, part.lacks_inputs
    )
    is_furnished = or_(Job.c.kind != JobKind.TASKS, ~lacking.exists())
    return (
        select(Job.c.id, Job.c.campaign_id, Job.c.kind, Job.c.bucket_id, Job.c.width, Job.c.walltime, tasks_of)
        .add_columns(Bucket.c.requirements[OWN_KEY].label("own"))
        .outerjoin(Bucket, Bucket.c.id == Job.c.bucket_id)
        .join(Campaign, and_(Campaign.c.id == Job.c.campaign_id, Campaign.c.state == CampaignState.IN_TREATMENT))
        .where(Job.c.cluster_id == bindparam("here"), Job.c.state == JobState.TO_LAUNCH, ~is_job_held(), is_furnished)
        .order_by(Job.c.id)
        .limit(bindparam("most", type_=BigInteger))
    )


def _tasks_of(conn: Connection, job_ids: Sequence[int]) -> dict[int, list[LaunchTask]]:
    tasks: dict[int, list[LaunchTask]] = {}
    wanted = {"wanted": rows_as_json(IDS, [(job_id,) for job_id in job_ids])}
    for job_id, task in read_all(conn, _CarriedTask, _carried(), wanted):
        tasks.setdefault(job_id, []).append(task)
    return tasks


@cache
def _carried() -> Select[*tuple[Any, ...]]:
    wanted = bound_values_table("wanted", IDS)
    continues = func.coalesce(Task.c.checkpoint_cluster_id == Job.c.cluster_id, false())
    return (
        select(Attempt.c.job_id, Task.c.id, Task.c.number, Attempt.c.number.label("attempt"))
        .add_columns(Task.c.parameter, Task.c.priority, continues.label("continues"))
        .join(wanted, wanted.c.id == Attempt.c.job_id)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(Task, Task.c.id == Attempt.c.task_id)
        .order_by(Attempt.c.job_id, Attempt.c.position)
    )


def _describe(conn: Connection, cluster_id: int, campaign_ids: set[int]) -> dict[int, _LaunchSettings]:
    return read_by(conn, "id", _LaunchSettings, _described(), {"here": cluster_id, "campaigns": sorted(campaign_ids)})


@cache
def _described() -> Select[*tuple[Any, ...]]:
    part, here = CampaignCluster, bindparam("here", type_=BigInteger)
    mapping = and_(UserMapping.c.cluster_id == here, UserMapping.c.grid_user == Campaign.c.grid_user)
    whole = Forecast.alias("whole")
    pressure = interval(func.coalesce(whole.c.pressure, 0.0))
    return (
        select(
            Campaign.c.id,
            Campaign.c.name,
            Campaign.c.type,
            Campaign.c.grid_user,
            func.coalesce(UserMapping.c.local_user, Campaign.c.grid_user).label("local_user"),
            func.coalesce(Project.c.name, "").label("project"),
            Forecast.c.mean.label("estimate"),
            (whole.c.published - pressure).label("start_by"),
            part.c.settings,
            part.c.inputs_version,
        )
        .join(part, and_(part.c.campaign_id == Campaign.c.id, part.c.cluster_id == here))
        .outerjoin(UserMapping, mapping)
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id == here))
        .outerjoin(whole, and_(whole.c.campaign_id == Campaign.c.id, whole.c.cluster_id.is_(None)))
        .where(Campaign.c.id == func.any(bindparam("campaigns", type_=ARRAY(BigInteger))))
    )
