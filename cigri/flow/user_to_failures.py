"""Failed tasks: their user has them done again, whether the failure was accepted or not."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, Connection, TableValuedAlias, select, update

from cigri.database import rows, wake
from cigri.errors import CigriError
from cigri.failures import TASK_FAILED
from cigri.flow.anyone_to_operator import close_events
from cigri.flow.user_to_metascheduler import reopen_campaign, require_open_to_tasks
from cigri.states import TaskState
from cigri.tables.tasks import Task
from cigri.verdicts import FIRST_IN_LINE

Span = tuple[int, int]
"""Numbers of tasks, from the first to the last."""


def redo_tasks(
    conn: Connection, campaign_id: int, user: str, chosen: Sequence[Span] | None, now: datetime | None = None
) -> int:
    """The failed tasks of these numbers, or all that failed, wait again: how many? The campaign is opened if it ended.

    Raise CigriError when one of these numbers is of no task that has failed.
    """
    require_open_to_tasks(conn, campaign_id, user)
    failed = select(Task.c.id).where(Task.c.campaign_id == campaign_id, Task.c.state == TaskState.FAILED)
    if chosen is not None:
        _require_failed(conn, campaign_id, chosen)
        span = _spans(chosen)
        failed = failed.join(span, Task.c.number.between(span.c.first, span.c.last))
    redone = redo_failed(conn, conn.scalars(failed).all())
    if redone:
        close_events(conn, [TASK_FAILED], [f"task {task_id}" for task_id in redone], user, now)
        reopen_campaign(conn, campaign_id, user, now)
        wake(conn)
    return len(redone)


def redo_failed(conn: Connection, task_ids: Collection[int]) -> dict[int, int]:
    """Those of these that have failed wait again, first in line and with a clean past; give their campaigns."""
    wanted = rows("wanted", {"id": BigInteger()}, [(task_id,) for task_id in task_ids])
    past = dict.fromkeys(("failures", "deaths", "resubmissions", "checkpoints"), 0)
    moved = conn.execute(
        update(Task)
        .where(Task.c.id == wanted.c.id, Task.c.state == TaskState.FAILED)
        .values(state=TaskState.WAITING, priority=FIRST_IN_LINE, **past)
        .returning(Task.c.id, Task.c.campaign_id)
    )
    return {row.id: row.campaign_id for row in moved}


def _require_failed(conn: Connection, campaign_id: int, chosen: Sequence[Span]) -> None:
    span = _spans(chosen)
    named = select(Task.c.number, Task.c.state).join(span, Task.c.number.between(span.c.first, span.c.last))
    named = named.where(Task.c.campaign_id == campaign_id).order_by(Task.c.number)
    states = {row.number: row.state for row in conn.execute(named)}
    why = "only failed tasks can be done again"
    for number, state in states.items():
        if state is not TaskState.FAILED:
            raise CigriError(f"task {number} of campaign {campaign_id} is {state}: {why}; nothing was changed")
    for first, last in chosen:
        for number in range(first, last + 1):
            if number not in states:
                raise CigriError(f"campaign {campaign_id} has no task {number}; nothing was changed")


def _spans(chosen: Sequence[Span]) -> TableValuedAlias:
    return rows("span", {"first": BigInteger(), "last": BigInteger()}, chosen)
