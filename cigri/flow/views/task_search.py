"""Tasks of a campaign that are looked for: by state, and by where and how they ended.
Read by: users.
"""

from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, cast, func, select, true
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, Select, Subquery

from cigri.flow.views.jobs import won_attempt
from cigri.states import TaskState
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task, TaskHistory

MOST_EXAMINED = 20_000
"""Tasks at which one search looks beyond their state: of each of them an attempt and a job are read."""


class TaskSearch(NamedTuple):
    """What tasks are looked for by; empty or None: whatever it is. `parameter` is a part of it, in any case."""

    state: TaskState | None = None
    cluster_id: int | None = None
    exit_code: int | None = None
    node: str = ""
    parameter: str = ""
    first: int = 0
    last: int | None = None
    is_descending: bool = False

    @property
    def is_by_state_alone(self) -> bool:
        """An index, or the order of numbers, leads to them: no bound is needed."""
        return not (self.is_by_attempt or self.parameter)

    @property
    def is_by_attempt(self) -> bool:
        """Has the attempt to be looked at?"""
        return self.cluster_id is not None or self.exit_code is not None or bool(self.node)


class FoundNumbers(NamedTuple):
    """Tasks by their numbers; `examined`: the one that was looked at last, None where all have been."""

    numbers: list[int]
    examined: int | None


def find_numbers(conn: Connection, campaign_id: int, search: TaskSearch, limit: int) -> FoundNumbers:
    """At most `limit` of them, in the order of the search, of the tasks from `first` to `last`, archived or not."""
    for kept in (Task, TaskHistory):
        candidates = _candidates(kept, campaign_id, search, limit + 1 if search.is_by_state_alone else MOST_EXAMINED)
        matching = _in_tasks(candidates, search) if kept is Task else _in_history(candidates, search)
        if search.parameter:
            written = cast(candidates.c.parameter, Text)
            matching = matching.where(written.icontains(search.parameter, autoescape=True))
        number = candidates.c.number
        ordered = matching.order_by(number.desc() if search.is_descending else number).limit(limit + 1)
        found = list(conn.scalars(ordered))
        end = func.min(number) if search.is_descending else func.max(number)
        seen, last = conn.execute(select(func.count(), end).select_from(candidates)).one()
        if len(found) > limit:
            return FoundNumbers(found[:limit], found[limit - 1])
        if seen:
            return FoundNumbers(found, last if seen == MOST_EXAMINED and not search.is_by_state_alone else None)
    return FoundNumbers([], None)


def _candidates(kept: Any, campaign_id: int, search: TaskSearch, most: int) -> Subquery:
    """Those at which is looked, in order."""
    number = kept.c.number
    chosen = select(kept).where(kept.c.campaign_id == campaign_id, number >= search.first)
    if search.last is not None:
        chosen = chosen.where(number <= search.last)
    if search.state is not None:
        chosen = chosen.where(kept.c.state == search.state)
    return chosen.order_by(number.desc() if search.is_descending else number).limit(most).subquery("candidates")


def _in_tasks(candidates: FromClause, search: TaskSearch) -> Select[int]:
    task = candidates.c
    chosen = select(task.number)
    if not search.is_by_attempt:
        return chosen
    shown = (
        select(Job.c.cluster_id, Attempt.c.exit_code, Job.c.node)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .where(Attempt.c.task_id == task.id, Attempt.c.number == won_attempt(candidates))
        .limit(1)  # or PostgreSQL may read all attempts and jobs of the campaign, and join them
        .correlate(candidates)
        .lateral("shown_attempt")
    )
    ended = shown.c
    return chosen.join(shown, true()).where(*_wanted(search, ended.cluster_id, ended.exit_code, ended.node))


def _in_history(candidates: FromClause, search: TaskSearch) -> Select[int]:
    task = candidates.c
    return select(task.number).where(*_wanted(search, task.cluster_id, task.exit_code, task.node))


def _wanted(
    search: TaskSearch, cluster_id: ColumnElement[Any], exit_code: ColumnElement[Any], node: ColumnElement[Any]
) -> list[ColumnElement[bool]]:
    conditions = [cluster_id == search.cluster_id] if search.cluster_id is not None else []
    conditions += [exit_code == search.exit_code] if search.exit_code is not None else []
    return conditions + ([node == search.node] if search.node else [])
