"""A strip shows all tasks of a campaign in at most a thousand cells, each with its tasks by state."""

from time import monotonic

import pytest
from sqlalchemy import Connection, text

from cigri.api_models.campaigns import MOST_CELLS, TaskStripCell
from cigri.database import Database
from cigri.endpoints.campaigns import strip
from cigri.endpoints.dispatch import run_endpoint
from cigri.errors import NotFound, UsageError
from cigri.flow.archive import archive_campaign
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from cigri.states import TaskState
from tests.factories import a_campaign, a_cluster

BOB = Caller("bob")
MANY = 200_000
LONGEST = 2.0  # seconds, on a busy machine; measured: 0.05
FILL = f"""
SET LOCAL session_replication_role = replica;
INSERT INTO tasks (campaign_id, bucket_id, number, parameter, state)
    SELECT 1, 1, n, '""', 'done' FROM generate_series(3, {MANY} - 1) AS n;
INSERT INTO task_counts (campaign_id, state, n) VALUES (1, 'done', {MANY} - 3);
"""


def move(conn: Connection, states: dict[int, TaskState]) -> None:
    for number, state in states.items():
        moved = text("UPDATE tasks SET state = :state WHERE campaign_id = 1 AND number = :number")
        conn.execute(moved, {"number": number, "state": state})


def alone(number: int, state: TaskState) -> TaskStripCell:
    return TaskStripCell(number, number, state, {state: 1})


def cells(database: Database, **asked: int) -> list[TaskStripCell]:
    told = run_endpoint(strip, database, Settings, BOB, {"campaign_id": 1, **asked})
    assert isinstance(told, list)
    return told


def test_a_short_campaign_has_a_cell_for_each_task(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, len(TaskState))
        move(conn, dict(enumerate(TaskState)))
    assert cells(database) == [alone(number, state) for number, state in enumerate(TaskState)]


def test_a_cell_shows_its_worst_task(database: Database) -> None:
    done, assigned, waiting = TaskState.DONE, TaskState.ASSIGNED, TaskState.WAITING
    cancelled, failed = TaskState.CANCELLED, TaskState.FAILED
    pairs = [(done, done), (done, assigned), (assigned, waiting), (waiting, cancelled), (cancelled, failed)]
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1001)
        move(conn, dict(enumerate(state for pair in pairs for state in pair)))
    told = cells(database)
    assert [(cell.first, cell.last) for cell in told[:2] + told[-1:]] == [(0, 1), (2, 3), (1000, 1000)]
    assert [cell.worst for cell in told[:6]] == [done, assigned, waiting, cancelled, failed, waiting]
    assert [cell.counts for cell in told[:2]] == [{done: 2}, {done: 1, assigned: 1}]
    assert len(told) == 501


def test_a_range_is_told_in_finer_cells(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3000)
        move(conn, {1501: TaskState.FAILED})
    assert len(cells(database)) == MOST_CELLS
    told = cells(database, first=1500, last=1502)
    assert told == [alone(1500, TaskState.WAITING), alone(1501, TaskState.FAILED), alone(1502, TaskState.WAITING)]
    assert cells(database, first=2999, last=10**9) == [alone(2999, TaskState.WAITING)]
    for first, last in ((-1, 5), (5, 4), (3000, 3001)):
        with pytest.raises(UsageError, match="the numbers 0 to 2999"):
            cells(database, first=first, last=last)


def test_an_archived_campaign_has_the_same(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2)
        move(conn, {0: TaskState.FAILED, 1: TaskState.DONE})
    before = cells(database)
    with database.begin() as conn:
        archive_campaign(conn, 1)
    assert cells(database) == before == [alone(0, TaskState.FAILED), alone(1, TaskState.DONE)]


def test_many_tasks_are_told_soon(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 3)
        conn.execute(text(FILL))
        move(conn, {MANY - 7: TaskState.FAILED})
    begun = monotonic()
    told = cells(database)
    assert monotonic() - begun < LONGEST
    assert len(told) == MOST_CELLS
    assert told[0] == TaskStripCell(0, 199, TaskState.WAITING, {TaskState.WAITING: 3, TaskState.DONE: 197})
    assert told[-1] == TaskStripCell(MANY - 200, MANY - 1, TaskState.FAILED, {TaskState.FAILED: 1, TaskState.DONE: 199})
    assert {cell.worst for cell in told[1:-1]} == {TaskState.DONE}


def test_there_must_be_such_a_campaign(database: Database) -> None:
    with pytest.raises(NotFound, match="no campaign 1"):
        cells(database)
