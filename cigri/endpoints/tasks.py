"""Tasks of campaigns; parameters are for the owners, others get None in their place."""

from typing import TYPE_CHECKING

from cigri.answers.tasks import TaskView, WholeTask
from cigri.endpoints import May, reads
from cigri.endpoints.campaigns import find_campaign
from cigri.errors import NotFound, UsageError
from cigri.rules.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

TASKS_IN_ANSWER = 10_000
NO_TASK = "no such task; `gridstat -f CAMPAIGN` lists tasks"


@reads("/campaigns/{campaign_id}/tasks", May.EVERYBODY)
def tasks(
    conn: "Connection", caller: Caller, *, campaign_id: int, first: int | None = None, number: int = 100
) -> list[TaskView]:
    """So many tasks of a campaign, from the `first` number on in order; without it those launched last, if not all."""
    from cigri.flow.views.jobs import list_latest_tasks, list_tasks

    if not 0 <= number <= TASKS_IN_ANSWER:
        raise UsageError(f"number: {number} is not from 0 to {TASKS_IN_ANSWER}; ask for the next tasks by `first`")
    found = find_campaign(conn, campaign_id)
    latest = list_latest_tasks(conn, campaign_id, number) if first is None and found.total > number else []
    listed = latest or list_tasks(conn, campaign_id, first or 0, number)
    return listed if caller.owns(found.user) else [task._replace(parameter=None) for task in listed]


@reads("/campaigns/{campaign_id}/tasks/{number}", May.EVERYBODY)
def task(conn: "Connection", caller: Caller, *, campaign_id: int, number: int) -> WholeTask:
    """One task by its number in its campaign, and all its attempts."""
    from cigri.flow.views.jobs import list_tasks

    return _whole(conn, caller, next(iter(list_tasks(conn, campaign_id, number, 1)), None))


@reads("/tasks/{task_id}", May.EVERYBODY)
def task_by_id(conn: "Connection", caller: Caller, *, task_id: int) -> WholeTask:
    """One task by its own id, and all its attempts, unless its campaign is archived."""
    from cigri.flow.views.jobs import find_task

    return _whole(conn, caller, find_task(conn, task_id))


def _whole(conn: "Connection", caller: Caller, found: TaskView | None) -> WholeTask:
    from cigri.flow.views.jobs import list_attempts_of_task

    if found is None:
        raise NotFound(NO_TASK)
    attempts = list_attempts_of_task(conn, found.id) if found.id is not None else []
    if caller.owns(find_campaign(conn, found.campaign_id).user):
        return WholeTask(found, attempts)
    return WholeTask(found._replace(parameter=None), [attempt._replace(parameter=None) for attempt in attempts])
