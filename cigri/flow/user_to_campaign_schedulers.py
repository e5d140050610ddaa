"""Users hand over tasks; campaign schedulers claim those that wait, the best first."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, cast, func, or_, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import clock
from cigri.flow.matcher_to_anyone import Share, is_closed
from cigri.states import TaskState
from cigri.tables.campaigns import Bucket
from cigri.tables.tasks import Task, TaskCount

_WAITING = (
    *(Task.c.id, Task.c.bucket_id, Task.c.attempts, Task.c.priority, Task.c.deaths),
    *(Task.c.failed_cluster_id, Task.c.expected),
)
_IS_NEW = Task.c.checkpoint_cluster_id.is_(None)


class WaitingTask(NamedTuple):
    """`failed_on`: the cluster where its last attempt failed. `expected`: seconds, if it has succeeded before."""

    id: int
    bucket_id: int
    attempts: int
    priority: int
    deaths: int = 0
    failed_on: int | None = None
    expected: float | None = None


class Backlog(NamedTuple):
    """Tasks of a campaign that are not done; `known` of them ran before, and took `expected` seconds in all at speed 1.

    `longest`: the longest known one that waits.
    """

    tasks: int
    known: int
    expected: float
    longest: float


def list_backlogs(conn: Connection, campaign_ids: Collection[int]) -> dict[int, Backlog]:
    """Of those of these campaigns of which tasks wait that ran before."""
    count = TaskCount.c
    waits = count.state == TaskState.WAITING
    longest = (
        select(func.max(Task.c.expected))
        .where(Task.c.campaign_id == count.campaign_id, Task.c.state == TaskState.WAITING, Task.c.expected.is_not(None))
        .correlate(TaskCount)
        .scalar_subquery()
    )
    found = conn.execute(
        select(
            count.campaign_id,
            cast(func.sum(count.n), BigInteger),
            cast(func.sum(count.known), BigInteger),
            cast(func.sum(count.expected), DOUBLE_PRECISION),
            func.coalesce(longest, 0.0),
        )
        .where(count.campaign_id.in_(campaign_ids), count.state.in_((TaskState.WAITING, TaskState.ASSIGNED)))
        .group_by(count.campaign_id)
        .having(func.sum(count.known).filter(waits) > 0)
    )
    return {campaign_id: Backlog(*backlog) for campaign_id, *backlog in found}


def claim(
    bucket_id: int, limit: int, longest: float = inf
) -> Select[int, int, int, int, int, int | None, float | None]:
    """The waiting tasks of a bucket that any cluster may take, best first, skipping what somebody else is claiming.

    Of the same priority those go first of which nobody knows how long they take, and then the longest; none of which it
    is known that it takes more than `longest` seconds.
    """
    is_short = or_(Task.c.expected.is_(None), Task.c.expected <= longest) if longest < inf else true()
    return (
        select(*_WAITING)
        .where(Task.c.bucket_id == bucket_id, Task.c.state == TaskState.WAITING, _IS_NEW, is_short)
        .order_by(Task.c.priority.desc(), Task.c.expected.desc(), Task.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )


def take_waiting(
    conn: Connection,
    campaign_id: int,
    limit: int,
    rooms: Mapping[int, int] = MappingProxyType({}),
    closed: Collection[Share] = (),
    longest: float = inf,
) -> list[WaitingTask]:
    """Lock the best waiting tasks until the end of the transaction, none that is known to be longer than `longest`.

    If there are buckets `closed` on clusters: of each bucket no more than its own clusters have room for, by `rooms`.
    """
    found: list[WaitingTask] = []
    for bucket_id in conn.scalars(
        select(Bucket.c.id).where(Bucket.c.campaign_id == campaign_id).order_by(Bucket.c.id)
    ).all():
        most = sum(tasks for one, tasks in rooms.items() if (bucket_id, one) not in closed) if closed else limit
        some = conn.execute(claim(bucket_id, most, longest)) if most > 0 else ()
        found += [WaitingTask._make(row) for row in some]
    found.sort(key=lambda task: (-task.priority, -inf if task.expected is None else -task.expected, task.id))
    return found if closed else found[:limit]


def take_continuing(
    conn: Connection, campaign_id: int, jobs: Mapping[int, int], patience: float, now: datetime | None = None
) -> tuple[dict[int, list[WaitingTask]], list[WaitingTask]]:
    """Lock tasks that have a checkpoint: for each cluster those of its own, at most as many as `jobs` says; and others.

    The others have waited for their cluster longer than `patience` seconds, and are for any that is left.
    """
    stopped = Task.c.checkpoint_cluster_id
    is_open = ~is_closed(Task.c.bucket_id, stopped)
    mine = {
        cluster_id: _continuing(conn, campaign_id, limit, and_(stopped == cluster_id, is_open))
        for cluster_id, limit in jobs.items()
    }
    taken = {task.id for tasks in mine.values() for task in tasks}
    places = sum(jobs.values())
    others = _continuing(conn, campaign_id, places, Task.c.stopped_at <= clock(now) - timedelta(seconds=patience))
    return mine, [task for task in others if task.id not in taken][: places - len(taken)]


def _continuing(conn: Connection, campaign_id: int, limit: int, chosen: ColumnElement[bool]) -> list[WaitingTask]:
    found = (
        select(*_WAITING)
        .where(Task.c.campaign_id == campaign_id, Task.c.state == TaskState.WAITING, ~_IS_NEW, chosen)
        .order_by(Task.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return [WaitingTask._make(row) for row in conn.execute(found)]
