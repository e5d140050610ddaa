"""How tasks failed, whether their user accepted it or not.
Read by: users.
"""

from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, literal, null, select, true
from sqlalchemy.sql.selectable import Select

from cigri.lifecycle.task_failures import TASK_FAILED, TaskFailure, last_stderr_line
from cigri.states import TaskState
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task, TaskHistory


def list_failures(conn: Connection, campaign_id: int, most: int) -> list[TaskFailure]:
    """The `most` failed tasks of the highest numbers, in the order of their numbers; of an archived campaign without
    event and job."""
    event = (
        select(Event.c.id, Event.c.message)
        .where(Event.c.task_id == Task.c.id, Event.c.code == TASK_FAILED)
        .order_by(Event.c.id.desc())
        .limit(1)
        .lateral()
    )
    failed = (
        select(
            Task.c.number,
            Cluster.c.name.label("cluster"),
            Attempt.c.outcome,
            Attempt.c.exit_code,
            func.coalesce(event.c.message, "").label("message"),
            Attempt.c.job_id,
            event.c.id.label("event_id"),
        )
        .outerjoin(Attempt, and_(Attempt.c.task_id == Task.c.id, Attempt.c.number == Task.c.attempts))
        .outerjoin(Job, Job.c.id == Attempt.c.job_id)
        .outerjoin(Cluster, Cluster.c.id == Job.c.cluster_id)
        .outerjoin(event, true())
        .where(Task.c.campaign_id == campaign_id, Task.c.state == TaskState.FAILED)
        .order_by(Task.c.number.desc())
        .limit(most)
    )
    tasks = conn.execute(failed).all() or conn.execute(_archived(campaign_id, most)).all()
    return [
        TaskFailure(
            campaign_id,
            row.number,
            row.cluster,
            row.outcome,
            row.exit_code,
            last_stderr_line(row.message),
            row.job_id,
            row.event_id,
        )
        for row in reversed(tasks)
    ]


def find_last_event(conn: Connection, campaign_id: int) -> int:
    """The id of what was told last of a campaign, 0 where nothing was: each failure of a task is told."""
    return conn.scalar(_last_event(), {"id": campaign_id}) or 0


@cache
def _last_event() -> Select[int]:
    """Built once: it takes longer to build than to answer."""
    return select(func.max(Event.c.id)).where(Event.c.campaign_id == bindparam("id"))


def count_failed(conn: Connection, campaign_ids: Collection[int]) -> dict[int, int]:
    """Tasks that have failed, by campaign, of those that have any."""
    counted = (
        select(Task.c.campaign_id, func.count().label("failed"))
        .where(Task.c.campaign_id.in_(campaign_ids), Task.c.state == TaskState.FAILED)
        .group_by(Task.c.campaign_id)
        .order_by(Task.c.campaign_id)
    )
    return {row.campaign_id: row.failed for row in conn.execute(counted)}


def _archived(campaign_id: int, most: int) -> Select[*tuple[Any, ...]]:
    row = TaskHistory.c
    return (
        select(
            row.number,
            Cluster.c.name.label("cluster"),
            null().label("outcome"),
            row.exit_code,
            literal("").label("message"),
            null().label("job_id"),
            null().label("event_id"),
        )
        .outerjoin(Cluster, Cluster.c.id == row.cluster_id)
        .where(row.campaign_id == campaign_id, row.state == TaskState.FAILED)
        .order_by(row.number.desc())
        .limit(most)
    )
