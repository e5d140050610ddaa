"""A strip shows all tasks of a campaign in at most a thousand cells, each by the worst of its tasks."""

from time import monotonic

import pytest
from sqlalchemy import Connection, text

from cigri.api_models.campaigns import MOST_CELLS, TaskStripCell
from cigri.database import Database
from cigri.endpoints.campaigns import strip
from cigri.endpoints.dispatch import run_endpoint
from cigri.errors import NotFound
from cigri.flow.archive import archive_campaign
from cigri.identity.callers import Caller
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


def cells(database: Database) -> list[TaskStripCell]:
    told = run_endpoint(strip, database, BOB, {"campaign_id": 1})
    assert isinstance(told, list)
    return told


def test_a_short_campaign_has_a_cell_for_each_task(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, len(TaskState))
        move(conn, dict(enumerate(TaskState)))
    assert cells(database) == [TaskStripCell(number, number, state) for number, state in enumerate(TaskState)]


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
    assert len(told) == 501


def test_an_archived_campaign_has_the_same(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 2)
        move(conn, {0: TaskState.FAILED, 1: TaskState.DONE})
    before = cells(database)
    with database.begin() as conn:
        archive_campaign(conn, 1)
    assert cells(database) == before == [TaskStripCell(0, 0, TaskState.FAILED), TaskStripCell(1, 1, TaskState.DONE)]


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
    assert told[0] == TaskStripCell(0, 199, TaskState.WAITING)
    assert told[-1] == TaskStripCell(MANY - 200, MANY - 1, TaskState.FAILED)
    assert {cell.worst for cell in told[1:-1]} == {TaskState.DONE}


def test_there_must_be_such_a_campaign(database: Database) -> None:
    with pytest.raises(NotFound, match="no campaign 1"):
        cells(database)
