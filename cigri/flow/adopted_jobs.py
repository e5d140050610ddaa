"""Adopted jobs: sent by an older life of the database, and taken over.
Given by: operator; taken by: operator.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, func, select
from sqlalchemy.dialects.postgresql import insert

from cigri.states import OPEN_CAMPAIGNS, BatchState, JobKind, JobState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import UserMapping
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task
from cigri.tables.transitions import initial_state, transition_to
from cigri.wrapper.manifest import ManifestJob, digest


def list_unknown_batches(conn: Connection, batch_ids: Sequence[int]) -> set[int]:
    """The ids that are of no batch in this database."""
    return set(batch_ids) - set(conn.scalars(select(Batch.c.id).where(Batch.c.id == func.any(list(batch_ids)))))


def put_adopted(
    conn: Connection,
    cluster_id: int,
    local_user: str,
    tag: str,
    jobs: Sequence[ManifestJob],
    remote_ids: Mapping[tuple[int, int], str],
) -> dict[int, str]:
    """Take over jobs of one batch that an older life of the database has sent; why not, of each that cannot be.

    The tasks of such a job wait here, and are given to it: it is watched as if it had been sent from here.
    """
    refused: dict[int, str] = {}
    for job in jobs:
        part = _part_of(conn, cluster_id, job.campaign_id)
        tasks = _tasks_of(conn, job)
        if why := _why_not(conn, local_user, job, part, tasks):
            refused[job.job_id] = why
            continue
        origin = {"campaign_id": job.campaign_id, "cluster_id": cluster_id, "created_at": part.submitted_at}
        batch = {
            "id": job.batch_id,
            "tag": tag,
            "local_user": local_user,
            "state": initial_state(Batch.c.state, BatchState.SUBMITTED),
        }
        size = max(written.array_index for written in jobs)
        sent = insert(Batch).values(**origin, **batch, size=size, settled_at=part.submitted_at)
        conn.execute(sent.on_conflict_do_nothing(index_elements=[Batch.c.id]))
        conn.execute(
            insert(Job).values(
                **origin,
                id=job.job_id,
                bucket_id=tasks[0].bucket_id,
                kind=JobKind.TASKS,
                state=initial_state(Job.c.state, JobState.SUBMITTED),
                width=part.width * job.side,
                walltime=job.walltime,
                batch_id=job.batch_id,
                array_index=job.array_index,
                remote_id=remote_ids.get((job.batch_id, job.array_index)),
                submitted_at=part.submitted_at,
            )
        )
        for position, carried in enumerate(job.tasks, start=1):
            taken = transition_to(Task.c.state, TaskState.ASSIGNED).where(Task.c.id == carried.task_id)
            conn.execute(taken.values(attempts=carried.attempt))
            attempt = {"task_id": carried.task_id, "number": carried.attempt, "job_id": job.job_id}
            conn.execute(insert(Attempt).values(**attempt, position=position))
    numbers = func.pg_get_serial_sequence(Job.name, Job.c.id.name)
    conn.execute(
        select(func.setval(numbers, func.greatest(func.nextval(numbers), select(func.max(Job.c.id)).scalar_subquery())))
    )
    return refused


def _part_of(conn: Connection, cluster_id: int, campaign_id: int) -> Any:
    """Of a campaign on a cluster: since when, whether it goes on, whose account runs it, and how wide its tasks are."""
    part = CampaignCluster
    mapping = and_(UserMapping.c.cluster_id == cluster_id, UserMapping.c.grid_user == Campaign.c.grid_user)
    account = func.coalesce(UserMapping.c.local_user, Campaign.c.grid_user).label("local_user")
    return conn.execute(
        select(Campaign.c.submitted_at, Campaign.c.state, account, part.c.width)
        .join(part, and_(part.c.campaign_id == Campaign.c.id, part.c.cluster_id == cluster_id))
        .outerjoin(UserMapping, mapping)
        .where(Campaign.c.id == campaign_id)
    ).one_or_none()


def _tasks_of(conn: Connection, job: ManifestJob) -> list[Any]:
    """Those tasks of a job that are there, in its order, locked."""
    ids = [carried.task_id for carried in job.tasks]
    columns = (Task.c.id, Task.c.number, Task.c.parameter, Task.c.state, Task.c.attempts, Task.c.bucket_id)
    tasks = select(*columns).where(Task.c.id.in_(ids), Task.c.campaign_id == job.campaign_id).order_by(Task.c.id)
    by_id = {task.id: task for task in conn.execute(tasks.with_for_update(key_share=True))}
    return [by_id[task_id] for task_id in ids if task_id in by_id]


def _why_not(conn: Connection, local_user: str, job: ManifestJob, part: Any, tasks: Sequence[Any]) -> str:
    """Whether all is as it was when the job was made; "" when it is."""
    if part is None or len(tasks) < len(job.tasks):
        return f"campaign {job.campaign_id} is not in this database, or has other tasks"
    if part.local_user != local_user or part.state not in OPEN_CAMPAIGNS:
        return f"campaign {job.campaign_id} is over, or belongs to another account than {local_user}"
    if digest(part.submitted_at, [(task.id, task.number, task.parameter) for task in tasks]) != job.digest:
        return f"campaign {job.campaign_id} is another one here, or its tasks are"
    if any(
        task.state != TaskState.WAITING or task.attempts >= carried.attempt
        for task, carried in zip(tasks, job.tasks, strict=True)
    ):
        return "its tasks are in other jobs by now, or have ended"
    if conn.scalar(select(Job.c.id).where(Job.c.id == job.job_id)) is not None:
        return "another job has its number by now"
    return ""
