"""The database, a front-end, a controller or a job goes away for a while, or for good."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.database import Database, embedded, schema
from cigri.errors import DatabaseUnavailable
from tests.faults.test_kill import kill_group, start_almighty
from tests.grid import Grid, Site, until

TASKS = 6
# sessions outlive the sshd that began them; all those of this cluster are in its mount namespace
END_SESSIONS = """
for p in /proc/[0-9]*; do
    [ "$(readlink $p/ns/mnt)" = "$(readlink /proc/self/ns/mnt)" ] && [ "$(cat $p/comm)" = sshd ] && kill ${p#/proc/}
done; true
"""
NUMBERS = [str(number) for number in range(TASKS)]


@pytest.fixture
def own_database(tmp_path: Path) -> Iterator[tuple[Path, Database]]:
    """A PostgreSQL server of this test alone, as durable as in life."""
    directory = tmp_path / "pg"
    database = Database(embedded.start(directory))
    schema.upgrade(database)
    yield directory, database
    database.close()
    embedded.stop(directory)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_postgresql_goes_away_under_a_running_almighty(
    own_database: tuple[Path, Database], here: Site, tmp_path: Path, how: str
) -> None:
    directory, database = own_database
    grid = Grid(database, here, str(tmp_path / "work"))
    tasks = 20
    grid.submit([str(number) for number in range(tasks)], command="sleep 0.6")
    process = start_almighty(grid)
    try:
        until(lambda: grid.counts().get("done", 0) > 2)
        if how == "stop":
            embedded.stop(directory)
        else:
            embedded.kill(directory)
        with pytest.raises(DatabaseUnavailable):
            grid.counts()
        until(lambda: len(grid.executions()) > 8)  # the cluster does not care
        embedded.start(directory)
        until(lambda: grid.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL") == 0)
    finally:
        kill_group(process)
        grid.gateway.close()
    grid.assert_each_ran_once(tasks)


@pytest.mark.cluster
def test_sshd_is_away_for_a_minute(alpha: Grid) -> None:
    alpha.submit(NUMBERS, command="sleep 5")
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE state = 'running'") == TASKS)
    alpha.site.daemon("stop", "sshd")
    alpha.site.sh(END_SESSIONS, "root")
    try:
        back = time.monotonic() + 60
        alpha.run_until(lambda: alpha.one("SELECT failures FROM clusters") > 0)
        alpha.run_until(lambda: time.monotonic() > back)
        assert alpha.rows("SELECT code FROM events WHERE closed_at IS NULL") == [{"code": "CLUSTER_UNREACHABLE"}]
        assert alpha.counts() == {"assigned": TASKS}
    finally:
        alpha.site.daemon("start", "sshd")
    alpha.run_to_end()
    alpha.assert_each_ran_once(TASKS)
    assert alpha.rows("SELECT code FROM events WHERE closed_at IS NULL") == []


@pytest.mark.cluster
def test_a_hanging_front_end_delays_nobody_longer_than_its_time_out(alpha: Grid) -> None:
    alpha.submit(NUMBERS)
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == TASKS)
    alpha.site.daemon("pause", "sshd")
    try:
        started = time.monotonic()
        alpha.run_until(lambda: alpha.one("SELECT failures FROM clusters") > 0)
        assert time.monotonic() - started < 2 * float(alpha.site.config["timeout"])
    finally:
        alpha.site.daemon("cont", "sshd")
    alpha.run_to_end()
    alpha.assert_each_ran_once(TASKS)


@pytest.mark.cluster
def test_slurmctld_is_restarted(alpha: Grid) -> None:
    alpha.submit(NUMBERS, command=f"until [ -e {alpha.place}/go ]; do sleep 0.2; done")
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE state = 'running'") == TASKS)
    alpha.site.daemon("stop", "slurmctld")
    try:
        alpha.run_until(lambda: alpha.one("SELECT failures FROM clusters") > 0)
        assert alpha.counts() == {"assigned": TASKS}
        alpha.site.sh(f"touch {alpha.place}/go")  # they end while nobody is there to hear of it
    finally:
        alpha.site.daemon("start", "slurmctld")
    alpha.run_to_end()
    alpha.assert_each_ran_once(TASKS)


@pytest.mark.cluster
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_scancel_behind_our_back(request: pytest.FixtureRequest, name: str) -> None:
    grid: Grid = request.getfixturevalue(name)
    grid.submit(NUMBERS, command=f"[ -e {grid.place}/go ] || exec sleep 300")
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == TASKS)
    until(lambda: len(grid.executions()) == TASKS)
    grid.site.sh(f"touch {grid.place}/go; scancel -u $(id -u)")
    grid.run_to_end()
    assert grid.counts() == {"done": TASKS}
    assert set(grid.executions().values()) == {2}
    assert grid.one("SELECT min(deaths) FROM tasks") == 1
    assert grid.one("SELECT sum(failures) FROM tasks") == 0
    grid.assert_sane()


@pytest.mark.cluster
def test_jobs_that_vanish_from_squeue_are_lost_and_done_again(alpha: Grid) -> None:
    """A controller that has lost its memory knows none of the jobs it runs, which may go on until their walltime."""
    alpha.submit(NUMBERS, command=f"[ -e {alpha.place}/go ] || exec sleep 300", walltime=90)
    alpha.run_until(lambda: alpha.one("SELECT count(*) FROM jobs WHERE state = 'running'") == TASKS)
    until(lambda: len(alpha.executions()) == TASKS)
    alpha.site.daemon("stop", "slurmctld")
    alpha.site.sh(f"touch {alpha.place}/go")
    alpha.site.sh("rm -f /var/lib/cigri-testbed/alpha/state/job_state*", "root")
    alpha.site.daemon("start", "slurmctld")
    alpha.run_to_end(300)
    assert alpha.counts() == {"done": TASKS}
    assert alpha.rows("SELECT DISTINCT outcome::text FROM attempts WHERE number = 1") == [{"outcome": "lost"}]
    alpha.assert_sane()


def test_a_wrapper_killed_with_9_is_a_death_and_not_the_tasks_fault(grid: Grid) -> None:
    grid.submit(["1"], command=f"[ -e {grid.place}/go ] || exec sleep 300")
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    until(lambda: len(grid.executions()) == 1)
    batch = grid.one("SELECT id FROM batches")
    key = grid.one("SELECT key FROM grid")
    grid.site.sh(f"touch {grid.place}/go")
    # on this host the umask of tasks stands behind it
    grid.site.sh(f"kill -9 $(pgrep -f '[/]{key}/c1/b{batch}( [0-7]+)?$')")
    grid.run_to_end()
    assert grid.counts() == {"done": 1}
    assert grid.executions() == {0: 2}
    assert grid.rows("SELECT failures, deaths FROM tasks") == [{"failures": 0, "deaths": 1}]
    grid.assert_sane()


def test_a_task_killed_with_9_is_its_own_failure(grid: Grid) -> None:
    grid.submit(["1"], command="kill -9 $$")
    grid.run_until(lambda: grid.counts() == {"failed": 1})
    assert grid.rows("SELECT failures, deaths FROM tasks") == [{"failures": 1, "deaths": 0}]
    assert grid.rows("SELECT code FROM events WHERE closed_at IS NULL") == [{"code": "TASK_FAILED"}]
