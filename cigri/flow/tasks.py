"""Tasks that wait: claimed, the best first, and put back in line when their user wants them done again.
Given by: users; taken by: campaign schedulers, users.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, TableValuedAlias, and_, cast, false, func, or_, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import IDS, values_table, wake
from cigri.database.typed_rows import read_all, read_by
from cigri.errors import CigriError
from cigri.flow.campaigns import reopen_campaign, require_open_to_tasks
from cigri.flow.events import close_events
from cigri.flow.own_amounts import give_own_amounts
from cigri.flow.parcels import forget_parcels
from cigri.flow.views.job_destinations import BucketClusterKey, is_closed
from cigri.identity.callers import Caller
from cigri.lifecycle.task_failures import TASK_FAILED
from cigri.lifecycle.verdicts import FIRST_IN_LINE
from cigri.resources.own_amounts import OWN_KEY, OwnAmounts
from cigri.states import TaskState
from cigri.tables.campaigns import Bucket
from cigri.tables.jobs import Attempt
from cigri.tables.tasks import Task, TaskCount
from cigri.tables.transitions import transition_to

WAITING_COLUMNS = (
    *(Task.c.id, Task.c.bucket_id, Task.c.attempts, Task.c.priority, Task.c.deaths),
    *(Task.c.failed_cluster_id.label("failed_on"), Task.c.expected),
    false().label("is_special"),  # its bucket is, or is not
)
NO_OWN: OwnAmounts = MappingProxyType({})
_IS_SPECIAL = Bucket.c.requirements.has_key(OWN_KEY)
_IS_NEW = Task.c.checkpoint_cluster_id.is_(None)

TaskRange = tuple[int, int]
"""Numbers of tasks, from the first to the last."""


class WaitingTask(NamedTuple):
    """`failed_on`: the cluster where its last attempt failed. `expected`: seconds, if it has succeeded before.

    `is_special`: it has amounts of its own (own_amounts.py).
    """

    id: int
    bucket_id: int
    attempts: int
    priority: int
    deaths: int = 0
    failed_on: int | None = None
    expected: float | None = None
    is_special: bool = False


class Backlog(NamedTuple):
    """Tasks of a campaign that are not done; `known` of them ran before, and took `expected` seconds in all at speed 1.

    `longest`: the longest known one that waits.
    """

    tasks: int
    known: int
    expected: float
    longest: float


def list_backlogs(conn: Connection, campaign_ids: Collection[int]) -> dict[int, Backlog]:
    """By campaign id; those without a waiting task that ran before are left out."""
    count = TaskCount.c
    waits = count.state == TaskState.WAITING
    longest = (
        select(func.max(Task.c.expected))
        .where(Task.c.campaign_id == count.campaign_id, Task.c.state == TaskState.WAITING, Task.c.expected.is_not(None))
        .correlate(TaskCount)
        .scalar_subquery()
    )
    statement = (
        select(
            count.campaign_id,
            cast(func.sum(count.n), BigInteger).label("tasks"),
            cast(func.sum(count.known), BigInteger).label("known"),
            cast(func.sum(count.expected), DOUBLE_PRECISION).label("expected"),
            func.coalesce(longest, 0.0).label("longest"),
        )
        .where(count.campaign_id.in_(campaign_ids), count.state.in_((TaskState.WAITING, TaskState.ASSIGNED)))
        .group_by(count.campaign_id)
        .having(func.sum(count.known).filter(waits) > 0)
    )
    return read_by(conn, "campaign_id", Backlog, statement)


def claim(
    bucket_id: int, limit: int, longest: float = inf
) -> Select[int, int, int, int, int, int | None, float | None, bool]:
    """The waiting tasks of a bucket that any cluster may take, best first, skipping what somebody else is claiming.

    Of the same priority those go first of which nobody knows how long they take, and then the longest; none of which it
    is known that it takes more than `longest` seconds.
    """
    is_short = or_(Task.c.expected.is_(None), Task.c.expected <= longest) if longest < inf else true()
    return (
        select(*WAITING_COLUMNS)
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
    closed: Collection[BucketClusterKey] = (),
    longest: float = inf,
) -> list[WaitingTask]:
    """Lock the best waiting tasks until the end of the transaction, none that is known to be longer than `longest`.

    If there are buckets `closed` on clusters: of each bucket no more than its own clusters have room for, by `rooms`.
    """
    claimed: list[WaitingTask] = []
    buckets = select(Bucket.c.id, _IS_SPECIAL).where(Bucket.c.campaign_id == campaign_id)
    for bucket_id, is_special in conn.execute(buckets.order_by(Bucket.c.id)).all():
        own_rooms = [tasks for cluster_id, tasks in rooms.items() if (bucket_id, cluster_id) not in closed]
        most = sum(own_rooms) if closed else limit
        found = read_all(conn, WaitingTask, claim(bucket_id, most, longest)) if most > 0 else []
        claimed += [task._replace(is_special=True) for task in found] if is_special else found
    claimed.sort(key=lambda task: (-task.priority, -inf if task.expected is None else -task.expected, task.id))
    return claimed if closed else claimed[:limit]


def take_continuing(
    conn: Connection, campaign_id: int, jobs: Mapping[int, int], patience: float
) -> tuple[dict[int, list[WaitingTask]], list[WaitingTask]]:
    """Lock tasks that have a checkpoint: for each cluster those of its own, at most as many as `jobs` says; and others.

    The others have waited for their cluster longer than `patience` seconds, and are for any that is left.
    """
    stopped = Task.c.checkpoint_cluster_id
    is_open = ~is_closed(Task.c.bucket_id, stopped)
    by_cluster = {
        cluster_id: _continuing(conn, campaign_id, limit, and_(stopped == cluster_id, is_open))
        for cluster_id, limit in jobs.items()
    }
    taken = {task.id for tasks in by_cluster.values() for task in tasks}
    places = sum(jobs.values())
    others = _continuing(conn, campaign_id, places, Task.c.stopped_at <= func.now() - timedelta(seconds=patience))
    return by_cluster, [task for task in others if task.id not in taken][: places - len(taken)]


def _continuing(conn: Connection, campaign_id: int, limit: int, chosen: ColumnElement[bool]) -> list[WaitingTask]:
    statement = (
        select(*WAITING_COLUMNS)
        .where(Task.c.campaign_id == campaign_id, Task.c.state == TaskState.WAITING, ~_IS_NEW, chosen)
        .order_by(Task.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    tasks = read_all(conn, WaitingTask, statement)
    special = select(Bucket.c.id).where(Bucket.c.id.in_({task.bucket_id for task in tasks}), _IS_SPECIAL)
    ids = set(conn.scalars(special)) if tasks else set()
    return [task._replace(is_special=True) if task.bucket_id in ids else task for task in tasks]


def redo_tasks(
    conn: Connection,
    campaign_id: int,
    caller: Caller,
    chosen: Sequence[TaskRange] | None,
    states: Collection[TaskState],
    own: OwnAmounts = NO_OWN,
) -> int:
    """The tasks of these numbers, or all, that are in one of these states wait again: how many? With amounts of their
    `own`, if there are any.

    The campaign is opened if it ended. Raise CigriError when one of these numbers is of a task in another state.
    """
    require_open_to_tasks(conn, campaign_id, caller)
    ended = select(Task.c.id).where(Task.c.campaign_id == campaign_id, Task.c.state.in_(states), ~_is_carried())
    if chosen is not None:
        _require_ended(conn, campaign_id, chosen, states)
        span = _spans(chosen)
        ended = ended.join(span, Task.c.number.between(span.c.first, span.c.last))
    redone = _redo(conn, conn.scalars(ended).all(), states)
    if redone:
        close_events(conn, [TASK_FAILED], [f"task {task_id}" for task_id in redone], caller.user)
        reopen_campaign(conn, campaign_id, caller.user)
        if own:
            give_own_amounts(conn, campaign_id, redone, own)
        wake(conn)
    return len(redone)


def find_redoable(
    conn: Connection, campaign_id: int, chosen: Sequence[TaskRange] | None, states: Collection[TaskState]
) -> int | None:
    """The number of the first of the tasks that redo_tasks would take."""
    first = select(func.min(Task.c.number)).where(Task.c.campaign_id == campaign_id, Task.c.state.in_(states))
    if chosen is not None:
        span = _spans(chosen)
        first = first.join(span, Task.c.number.between(span.c.first, span.c.last))
    return conn.scalar(first)


def redo_failed(conn: Connection, task_ids: Collection[int]) -> dict[int, int]:
    """Those of these tasks that have failed wait again; give the campaign of each, by task id."""
    return _redo(conn, task_ids, (TaskState.FAILED,))


def _redo(conn: Connection, task_ids: Collection[int], states: Collection[TaskState]) -> dict[int, int]:
    """They go first in line, and what they went through before is forgotten."""
    wanted = values_table("wanted", IDS, [(task_id,) for task_id in task_ids])
    past = dict.fromkeys(("failures", "deaths", "resubmissions", "checkpoints"), 0)
    moved = conn.execute(
        transition_to(Task.c.state, TaskState.WAITING, out_of=states)
        .where(Task.c.id == wanted.c.id)
        .values(priority=FIRST_IN_LINE, **past)
        .returning(Task.c.id, Task.c.campaign_id)
    )
    redone = {row.id: row.campaign_id for row in moved}
    forget_parcels(conn, redone)
    return redone


def _is_carried() -> ColumnElement[bool]:
    """Has the task an attempt that has not ended? A job that was asked to end may still run it."""
    return select(Attempt.c.task_id).where(Attempt.c.task_id == Task.c.id, Attempt.c.outcome.is_(None)).exists()


def _require_ended(
    conn: Connection, campaign_id: int, chosen: Sequence[TaskRange], states: Collection[TaskState]
) -> None:
    span, is_carried = _spans(chosen), _is_carried().label("is_carried")
    named = select(Task.c.number, Task.c.state, is_carried).join(span, Task.c.number.between(span.c.first, span.c.last))
    tasks = {
        row.number: row for row in conn.execute(named.where(Task.c.campaign_id == campaign_id).order_by(Task.c.number))
    }
    for number, task in tasks.items():
        where = f"task {number} of campaign {campaign_id}"
        if task.state not in states:
            again = " or ".join(states)
            raise CigriError(
                f"{where} is {task.state}: only tasks that are {again} can be done again; nothing was changed"
            )
        if task.is_carried:
            raise CigriError(f"{where} has a job that is still being killed: try again soon; nothing was changed")
    for first, last in chosen:
        for number in range(first, last + 1):
            if number not in tasks:
                raise CigriError(f"campaign {campaign_id} has no task {number}; nothing was changed")


def _spans(chosen: Sequence[TaskRange]) -> TableValuedAlias:
    return values_table("span", {"first": BigInteger(), "last": BigInteger()}, chosen)
