"""Kill -9 of the metascheduler at each line of a release: tasks go on all together, or not yet, and are told once."""

import inspect
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.flow import dependencies
from cigri.flow.dependencies import NewDependency, release_tasks
from cigri.flow.views.invariants import examine
from cigri.states import AfterWhen
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs
from tests.forker import Forker
from tests.waiting import looks

ROOT = Path(__file__).parents[2]
OTHERS = text("""
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND xact_start IS NOT NULL
""")
OF_A_RELEASE = ("release_tasks", "_release", "_judge_same", "_is_fulfilled", "_put_verdicts", "_subject")


def lines() -> Iterator[int]:
    """Those on which something happens in a release."""
    for name in OF_A_RELEASE:
        function = vars(dependencies)[name]
        assert inspect.isfunction(function)
        yield from sorted({line for _, _, line in function.__code__.co_lines() if line is not None})


def a_release(conn: Connection, cluster: int) -> None:
    """Of one that waits for all, one that waits for numbers, and one that waits for a failure, which there is none."""
    first = a_campaign(conn, 2)
    a_campaign(conn, 3, after=[NewDependency(first)])
    a_campaign(conn, 2, after=[NewDependency(first, is_same=True)])
    a_campaign(conn, 1, after=[NewDependency(first, condition=AfterWhen.FAILURE)])
    end_jobs(conn, cluster, submitted_jobs(conn, first, cluster, 2))


def leave_no_transaction(database: Database) -> None:
    """Wait until PostgreSQL has noticed a death: a pass leaves alone what another one has locked."""
    for _ in looks(what="a transaction of the process that was killed is still there"):
        with database.begin() as conn:
            if conn.scalar(OTHERS) == 0:
                return


@pytest.mark.process
def test_a_release_killed_at_any_line_is_done_by_the_next_pass(forker: Forker, database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
    url = database.url.replace("+psycopg", "")
    died = 0
    for line in lines():
        with database.begin() as conn:
            a_release(conn, cluster)
        said = forker.run("tests.faults.dying:at_release", [url, str(line)], os.environ, ROOT)
        assert said.status in (0, -signal.SIGKILL), said
        leave_no_transaction(database)
        with database.begin() as conn:
            blocked = conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'blocked'"))
            assert blocked in (6, 1), f"killed at line {line}"
            died += blocked == 6
            release_tasks(conn)
            assert examine(conn) == []
            assert conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'blocked'")) == 1
            told = conn.execute(
                text("SELECT code, sum(count) FROM events WHERE code LIKE 'AFTER%' GROUP BY 1 ORDER BY 1")
            )
            assert [tuple(row) for row in told] == [("AFTER_FAILED", 1), ("AFTER_MET", 2)]
            conn.execute(text("DELETE FROM events"))
            conn.execute(text("DELETE FROM dependencies"))
            conn.execute(text("UPDATE tasks SET state = 'cancelled' WHERE state IN ('blocked', 'waiting')"))
    assert died > 20
