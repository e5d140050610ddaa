"""An attempt that hangs on one cluster, and its replica on another: real processes on two clusters of this host."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.test_kill import pass_that_dies
from tests.forker import Forker
from tests.grid import Grid, local_site, until
from tests.localbatch.host import Host

TASKS = 8
HANGS = '[ "$CIGRI_TASK_NUMBER.$CIGRI_ATTEMPT" = 0.1 ] && echo $$ >{place}/hangs && exec sleep 1000; exec sleep 0.5'

OF_WHAT_HANGS = """
SELECT count(*) FROM jobs JOIN attempts ON job_id = jobs.id
    JOIN (SELECT id AS task, number FROM tasks) AS tasks ON task = task_id AND tasks.number = 0
"""


@pytest.fixture
def two(local: Grid, tmp_path: Path) -> Iterator[Grid]:
    """A grid with one more cluster, whose homes are as far away as those of the first."""
    host = Host(tmp_path / "other")
    local.add(local_site(host.spool, "there"))
    local.tune("jobs", verify_kill=0.5)
    yield local
    host.clear()


def begin(two: Grid) -> int:
    """Task 0 hangs, and a replica of it has been begun elsewhere; give the pid of what hangs."""
    two.submit(
        [str(number) for number in range(TASKS)],
        HANGS.format(place=two.place),
        clusters={"here": {}, "there": {}},
        replicate={"budget": 1},
    )
    two.run_until(lambda: two.one(f"{OF_WHAT_HANGS} WHERE is_replica AND submitted_at IS NOT NULL"))
    return int((Path(two.place) / "hangs").read_text())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def assert_won_by_the_replica(two: Grid, pid: int) -> None:
    until(lambda: not is_alive(pid))
    rows = two.rows(
        "SELECT number, is_replica, a.outcome::text, cluster_id FROM attempts a JOIN jobs j ON j.id = a.job_id "
        "WHERE task_id = (SELECT id FROM tasks WHERE number = 0) ORDER BY number"
    )
    (first, second) = rows
    assert (first["outcome"], second["outcome"]) == ("superseded", "success")
    assert second["is_replica"]
    assert first["cluster_id"] != second["cluster_id"]
    assert two.counts() == {"done": TASKS}
    assert two.rows("SELECT failures, deaths FROM tasks WHERE failures + deaths > 0") == []
    assert two.executions()[0] == 2
    assert two.one("SELECT count(*) FROM events WHERE closed_at IS NULL") == 0
    two.assert_sane()


def test_the_replica_of_a_task_that_hangs_wins_and_the_other_ends_at_once(two: Grid) -> None:
    pid = begin(two)
    two.run_to_end()
    assert_won_by_the_replica(two, pid)


def test_a_killer_that_dies_between_win_and_abort_aborts_the_loser_later(two: Grid, forker: Forker) -> None:
    pid = begin(two)
    from modules import updator

    def is_won() -> bool:
        updator.run_once(two.tools)
        return two.counts() == {"done": TASKS}

    until(is_won)
    pass_that_dies(forker, two, "killer", "before")
    assert is_alive(pid)
    assert two.one("SELECT count(*) FROM kills WHERE reason = 'superseded' AND is_open AND sent_at IS NOT NULL") == 1
    two.run_to_end()
    assert_won_by_the_replica(two, pid)
