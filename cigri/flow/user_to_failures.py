"""Failed and cancelled tasks: their user has them done again, whether the failure was accepted or not."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, Connection, TableValuedAlias, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import rows, wake
from cigri.errors import CigriError
from cigri.flow.anyone_to_operator import close_events
from cigri.flow.user_to_metascheduler import reopen_campaign, require_open_to_tasks
from cigri.rules.verdicts import FIRST_IN_LINE
from cigri.states import TaskState
from cigri.tables.jobs import Attempt
from cigri.tables.moves import moving
from cigri.tables.tasks import Task
from cigri.text.alike_failures import TASK_FAILED

Span = tuple[int, int]
"""Numbers of tasks, from the first to the last."""


def redo_tasks(
    conn: Connection,
    campaign_id: int,
    user: str,
    chosen: Sequence[Span] | None,
    states: Collection[TaskState],
    now: datetime | None = None,
) -> int:
    """The tasks of these numbers, or all, that are in one of these states wait again: how many?

    The campaign is opened if it ended. Raise CigriError when one of these numbers is of a task in another state.
    """
    require_open_to_tasks(conn, campaign_id, user)
    ended = select(Task.c.id).where(Task.c.campaign_id == campaign_id, Task.c.state.in_(states), ~_is_carried())
    if chosen is not None:
        _require_ended(conn, campaign_id, chosen, states)
        span = _spans(chosen)
        ended = ended.join(span, Task.c.number.between(span.c.first, span.c.last))
    redone = _redo(conn, conn.scalars(ended).all(), states)
    if redone:
        close_events(conn, [TASK_FAILED], [f"task {task_id}" for task_id in redone], user, now)
        reopen_campaign(conn, campaign_id, user, now)
        wake(conn)
    return len(redone)


def redo_failed(conn: Connection, task_ids: Collection[int]) -> dict[int, int]:
    """Those of these that have failed wait again; give their campaigns."""
    return _redo(conn, task_ids, (TaskState.FAILED,))


def _redo(conn: Connection, task_ids: Collection[int], states: Collection[TaskState]) -> dict[int, int]:
    """First in line and with a clean past."""
    wanted = rows("wanted", {"id": BigInteger()}, [(task_id,) for task_id in task_ids])
    past = dict.fromkeys(("failures", "deaths", "resubmissions", "checkpoints"), 0)
    moved = conn.execute(
        moving(Task.c.state, TaskState.WAITING, out_of=states)
        .where(Task.c.id == wanted.c.id)
        .values(priority=FIRST_IN_LINE, **past)
        .returning(Task.c.id, Task.c.campaign_id)
    )
    return {row.id: row.campaign_id for row in moved}


def _is_carried() -> ColumnElement[bool]:
    """A job that was asked to end may still be at it."""
    return select(Attempt.c.task_id).where(Attempt.c.task_id == Task.c.id, Attempt.c.outcome.is_(None)).exists()


def _require_ended(conn: Connection, campaign_id: int, chosen: Sequence[Span], states: Collection[TaskState]) -> None:
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


def _spans(chosen: Sequence[Span]) -> TableValuedAlias:
    return rows("span", {"first": BigInteger(), "last": BigInteger()}, chosen)
