"""Campaigns on a real Grid Engine cell over real SSH: preempted, deleted, too long, without its qmaster or its node."""

import subprocess

import pytest

from tests.grid import TESTBED, Grid, until

pytestmark = pytest.mark.cluster


def restart(grid: Grid) -> None:
    """All daemons; an execd would only look for its qmaster half a minute later."""
    grid.site.daemon("stop", "sge_execd")
    subprocess.run([str(TESTBED), "up", "gamma"], check=True, capture_output=True, timeout=300)


def start_all(grid: Grid, tasks: int, **fields: object) -> None:
    """A campaign whose tasks are all running, until the file `go` is there."""
    wait = f"until [ -e {grid.place}/go ]; do sleep 0.2; done"
    grid.submit([str(n) for n in range(tasks)], command=wait, **fields)
    until(lambda: grid.cycle() is not None and len(grid.executions()) == tasks)


def test_what_local_users_and_operators_end_is_done_again_for_free(gamma: Grid) -> None:
    """bob's job in all.q ends all besteffort jobs of the host; when they run again, one is deleted behind our back."""
    start_all(gamma, 4)
    gamma.site.sh("qsub -b y -q all.q -pe smp 2 -o /dev/null -j y sleep 2", user="bob")
    gamma.run_until(lambda: gamma.one("SELECT count(*) FROM attempts WHERE outcome = 'preempted'") == 4)
    assert gamma.rows("SELECT DISTINCT priority FROM tasks") == [{"priority": 20}]
    gamma.run_until(lambda: sum(gamma.executions().values()) == 8)
    [job] = gamma.rows("SELECT remote_id FROM jobs WHERE state <> 'ended' ORDER BY id LIMIT 1")
    gamma.site.sh(f"qdel {job['remote_id']}", user="root")
    gamma.run_until(lambda: gamma.one("SELECT count(*) FROM attempts WHERE outcome = 'preempted'") == 5)
    gamma.site.sh(f"touch {gamma.place}/go")
    gamma.run_to_end()
    assert sorted(gamma.executions().values()) == [2, 2, 2, 3]
    assert gamma.counts() == {"done": 4}
    assert gamma.one("SELECT sum(failures) FROM tasks") == 0
    gamma.assert_sane()


def test_a_task_that_takes_too_long_is_warned_and_has_itself_to_blame(gamma: Grid) -> None:
    trap = f"trap 'echo warned >{gamma.place}/said; exit 1' TERM; sleep 300 & wait"
    gamma.submit(["long"], walltime=33, command=trap)
    gamma.run_until(lambda: gamma.counts() == {"failed": 1})
    assert gamma.rows("SELECT outcome::text FROM attempts") == [{"outcome": "walltime"}]
    assert gamma.site.sh(f"cat {gamma.place}/said") == "warned\n"


def test_exit_statuses_that_grid_engine_has_a_use_for_are_a_tasks_own(gamma: Grid) -> None:
    gamma.submit(["99", "100"], command="exit $1")
    gamma.run_until(lambda: gamma.counts() == {"failed": 2})
    assert sorted(row["exit_code"] for row in gamma.rows("SELECT exit_code FROM attempts")) == [99, 100]
    assert sorted(gamma.executions().values()) == [1, 1]
    until(lambda: gamma.site.sh("qstat") == "")


def test_tasks_go_on_without_a_qmaster_and_are_submitted_when_it_is_back(gamma: Grid) -> None:
    start_all(gamma, 3)
    gamma.site.daemon("kill", "sge_qmaster")
    gamma.submit(["3", "4"])
    for _ in range(5):
        gamma.cycle()
    gamma.site.sh(f"touch {gamma.place}/go")
    gamma.run_until(lambda: gamma.counts().get("done") == 3)
    restart(gamma)
    gamma.run_to_end()
    assert gamma.one("SELECT count(*) FROM attempts") == 5
    assert gamma.counts() == {"done": 5}
    gamma.assert_sane()


def test_tasks_go_on_without_the_execd_of_their_node(gamma: Grid) -> None:
    start_all(gamma, 2)
    gamma.site.daemon("kill", "sge_execd")
    gamma.site.sh(f"touch {gamma.place}/go")
    gamma.run_to_end()
    restart(gamma)
    gamma.assert_each_ran_once(2)
