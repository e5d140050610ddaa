"""Jobs that their batch system takes for running and that never start: people are told, their tasks are done again."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.drivers.gridengine.output_parsing import state_of
from cigri.drivers.local import LOCAL_STATES, LocalDriver
from cigri.drivers.oar.output_parsing import OAR_STATES
from cigri.drivers.slurm.output_parsing import SLURM_STATES
from cigri.flow.clusters import put_cluster
from cigri.flow.kill_requests import request_kills
from cigri.gateway.requests import ReadJournals
from cigri.shell.results import ShellResult
from cigri.states import KillReason
from cigri.wrapper import JobKey
from modules import killer, updator
from modules.updator import account_observation
from tests.grid import Grid, until

LOST_AFTER = 1.0
WALLTIME = 600
EVENTS = "SELECT code, count, message, closed_at FROM events WHERE code = 'JOBS_NOT_STARTED'"
WITHDRAWN = "SELECT count(*) FROM attempts WHERE outcome = 'withdrawn'"
NODES = {"alpha": ("slurmd-1", "slurmd-2"), "gamma": ("sge_execd",), "delta": ("node-1", "node-2")}
"""The daemons that start jobs, of a cluster of each batch system."""
OCCUPIED = "oarsub -l /host=2/core=1,walltime=0:30 -O /dev/null -E /dev/null 'sleep 1800' >/dev/null"
"""OAR looks every ten seconds whether nodes without a job answer, and sends no job to one that does not."""

LAST_JOB = """
    SELECT jobs.id, tag, remote_id, reason, has_begun, outcome::text FROM jobs JOIN batches ON batches.id = batch_id
    WHERE jobs.campaign_id = 2 ORDER BY jobs.id LIMIT 1
"""
KILLS = "SELECT reason::text FROM kills WHERE is_open"
WORDS = {
    "t": state_of("t"),
    "dt": state_of("dt"),
    "starting": LOCAL_STATES["starting"],
    "Running": OAR_STATES["Running"],
    "toTerminate": OAR_STATES["toTerminate"],
    "RUNNING": SLURM_STATES["RUNNING"],
    "COMPLETING": SLURM_STATES["COMPLETING"],
}
"""What batch systems say of a job that they believe to run, or to be about to."""


@pytest.fixture
def silent(local: Grid) -> Grid:
    """Four jobs that run until the file `go` is there fill the cluster; a fifth waits, which runs until `more` is."""
    lag(local, LOST_AFTER)
    local.tune("jobs", verify_kill=0.1)
    local.submit(["a", "b", "c", "d"], command=f"until [ -e {local.place}/go ]; do sleep 0.1; done")
    local.run_until(lambda: len(local.executions()) == 4)
    local.submit(["x"], walltime=WALLTIME, command=f"until [ -e {local.place}/more ]; do sleep 0.1; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 5)
    return local


def lag(grid: Grid, seconds: float) -> None:
    """By how much what is seen there may be late."""
    with grid.database.begin() as conn:
        put_cluster(conn, grid.site.name, grid.site.config | {"lost_after": seconds, "record_grace": 0.5})


class Liar:
    """The batch system says of the job `tag` that it runs; `forgets_nothing`: even when it is gone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tag: str, state: RemoteJobState) -> None:
        self.forgets_nothing = False
        self._last: RemoteJob | None = None
        listed = LocalDriver.parse_status

        def parse_status(driver: LocalDriver, answer: ShellResult, prefix: str) -> list[RemoteJob]:
            jobs = listed(driver, answer, prefix)
            self._last = next((job for job in jobs if job.tag == tag), self._last)
            others = [job for job in jobs if job.tag != tag]
            is_told = self._last is not None and (self.forgets_nothing or len(others) < len(jobs))
            return [*others, replace(self._last, state=state, node="n1")] if self._last and is_told else others

        monkeypatch.setattr(LocalDriver, "parse_status", parse_status)


def last_job(grid: Grid) -> Any:
    return grid.rows(LAST_JOB)[0]


def events(grid: Grid) -> list[Any]:
    return grid.rows(EVENTS)


def outlive(grid: Grid) -> None:
    """As if the walltime of the job that does not start, and the notice, were over."""
    with grid.database.begin() as conn:
        conn.exec_driver_sql(
            f"UPDATE jobs SET started_at = started_at - interval '{WALLTIME + 31} s' WHERE has_begun IS FALSE"
        )


def release(grid: Grid) -> None:
    grid.site.sh(f"touch {grid.place}/go {grid.place}/more")


def assert_all_ran_once(grid: Grid) -> None:
    """Five tasks, of two campaigns."""
    assert sorted(grid.executions().elements()) == [0, 0, 1, 2, 3]
    assert grid.counts() == {"done": 5}
    assert grid.rows("SELECT DISTINCT failures, deaths FROM tasks") == [{"failures": 0, "deaths": 0}]
    assert [row for row in events(grid) if row["closed_at"] is None] == []
    grid.assert_sane()


@pytest.mark.parametrize("word", WORDS)
def test_a_job_that_never_starts_is_told_of_once_and_done_again_after_its_walltime(
    silent: Grid, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    Liar(monkeypatch, last_job(silent)["tag"], WORDS[word])
    silent.run_until(lambda: events(silent))
    for _ in range(3):
        silent.cycle()
    [event] = events(silent)
    assert (event["count"], event["closed_at"]) == (1, None)
    assert f"has listed 1 jobs (e.g. {last_job(silent)['remote_id']} on n1) as running for over 1 s" in event["message"]
    assert "killed when their walltime is over" in event["message"]
    assert "has not written that it started" in last_job(silent)["reason"]
    assert silent.counts() == {"assigned": 5}
    assert silent.rows(KILLS) == []
    outlive(silent)
    silent.run_until(lambda: last_job(silent)["outcome"])
    assert last_job(silent)["outcome"] == "withdrawn"
    assert silent.rows("SELECT reason::text FROM kills") == [{"reason": "not_started"}]
    release(silent)
    silent.run_to_end()
    assert_all_ran_once(silent)
    assert silent.one("SELECT count(*) FROM attempts WHERE outcome = 'withdrawn'") == 1


def test_a_job_that_no_kill_ends_is_void_before_its_task_is_done_again(
    silent: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its batch system lists it for ever, and might start it yet."""
    liar = Liar(monkeypatch, last_job(silent)["tag"], RemoteJobState.RUNNING)
    liar.forgets_nothing = True
    effective = LocalDriver.cancel
    monkeypatch.setattr(LocalDriver, "cancel", lambda driver, ids: effective(driver, ["999_1"]))
    silent.run_until(lambda: events(silent))
    outlive(silent)
    silent.run_until(lambda: last_job(silent)["outcome"])
    job = last_job(silent)
    assert job["outcome"] == "withdrawn"
    assert "lists it as running though it was killed" in job["reason"]
    assert silent.rows(KILLS) == [{"reason": "listed_again"}]  # at once: perhaps its account is not asked again
    release(silent)  # now it is started all the same
    silent.run_to_end()
    silent.run_until(lambda: silent.rows("SELECT 1 FROM events WHERE code = 'JOBS_LISTED_AGAIN' AND closed_at IS NULL"))
    liar.forgets_nothing = False
    silent.run_until(lambda: silent.rows(KILLS) == [])
    assert_all_ran_once(silent)


def test_a_late_start_ends_the_alarm_and_the_job_has_its_whole_walltime(
    silent: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    Liar(monkeypatch, last_job(silent)["tag"], RemoteJobState.RUNNING)
    silent.run_until(lambda: events(silent))
    outlive(silent)
    with silent.database.begin() as conn:  # asked for, and not sent yet
        assert request_kills(conn, [last_job(silent)["id"]], KillReason.NOT_STARTED, "killer") == 1
    silent.site.sh(f"touch {silent.place}/go")
    until(lambda: updator.run_once(silent.tools) and last_job(silent)["has_begun"])
    assert silent.rows(KILLS) == []
    assert last_job(silent)["reason"] is None
    assert silent.one("SELECT now() - started_at < interval '60 s' FROM jobs WHERE campaign_id = 2")
    assert [row["closed_at"] is not None for row in events(silent)] == [True]
    assert killer.run_once(silent.tools)["not_started kills"] == 0
    release(silent)
    silent.run_to_end()
    assert_all_ran_once(silent)
    assert silent.one("SELECT count(*) FROM attempts") == 5


def test_a_record_that_comes_after_the_kill_counts(silent: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kill is sent, and has no effect before the task is done."""
    Liar(monkeypatch, last_job(silent)["tag"], RemoteJobState.RUNNING)
    effective = LocalDriver.cancel
    monkeypatch.setattr(LocalDriver, "cancel", lambda driver, ids: effective(driver, ["999_1"]))
    silent.run_until(lambda: events(silent))
    outlive(silent)
    lag(silent, 100.0)
    assert killer.run_once(silent.tools)["killed jobs"] == 1
    assert silent.rows(KILLS) == [{"reason": "not_started"}]
    release(silent)
    until(lambda: sum(silent.executions().values()) == 5)
    silent.run_to_end()
    assert_all_ran_once(silent)
    assert silent.one("SELECT count(*) FROM attempts") == 5
    assert silent.rows(KILLS) == []


def test_a_job_that_has_started_is_looked_for_once(silent: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[JobKey]()

    def read_journals(grid: str, keys: list[JobKey]) -> ReadJournals:
        asked.extend(keys)
        return ReadJournals(grid, keys)

    monkeypatch.setattr(account_observation, "ReadJournals", read_journals)
    silent.run_until(lambda: silent.one("SELECT count(*) FROM jobs WHERE has_begun") == 4)
    assert len(set(asked)) == 4
    asked.clear()
    for _ in range(3):
        silent.cycle()
    assert asked == []
    assert events(silent) == []
    release(silent)
    silent.run_to_end()
    assert_all_ran_once(silent)


@pytest.fixture(params=list(NODES))
def unheard(request: pytest.FixtureRequest) -> Iterator[Grid]:
    """A cluster of each batch system whose nodes do not answer, with three jobs that it takes for running."""
    grid: Grid = request.getfixturevalue(request.param)
    lag(grid, 5.0)
    grid.tune("jobs", verify_kill=1.0)
    if request.param == "delta":
        grid.site.sh(OCCUPIED, user="bob")
        until(lambda: " R " in grid.site.sh("oarstat -u bob", user="bob"))
    for daemon in NODES[request.param]:
        grid.site.daemon("pause", daemon)
    grid.submit(["a", "b", "c"], walltime=WALLTIME)
    running = "SELECT count(*) FROM jobs WHERE state = 'running'"
    try:
        grid.run_until(lambda: grid.one(running) == 3)
        yield grid
    finally:
        wake(grid)


def wake(grid: Grid) -> None:
    for daemon in NODES[grid.site.name]:
        grid.site.daemon("cont", daemon)


def assert_free_and_done_once(grid: Grid) -> None:
    assert grid.executions() == dict.fromkeys(range(3), 1)
    assert grid.counts() == {"done": 3}
    assert grid.rows("SELECT DISTINCT failures, deaths FROM tasks") == [{"failures": 0, "deaths": 0}]
    assert grid.one(WITHDRAWN) == 3
    grid.run_until(lambda: [row for row in events(grid) if row["closed_at"] is None] == [])
    grid.run_until(lambda: grid.rows(KILLS) == [])
    grid.assert_sane()


@pytest.mark.cluster
def test_jobs_that_no_kill_ends_are_void_and_done_again(unheard: Grid) -> None:
    """Their nodes hear neither of them nor of their end, until their tasks have been given to other jobs."""
    unheard.run_until(lambda: events(unheard))
    assert unheard.counts() == {"assigned": 3}
    outlive(unheard)
    unheard.run_until(lambda: unheard.one(WITHDRAWN) == 3)
    wake(unheard)
    unheard.run_to_end()
    assert_free_and_done_once(unheard)


@pytest.mark.cluster
@pytest.mark.parametrize("unheard", ["gamma"], indirect=True)
def test_elements_that_grid_engine_leaves_in_transfer_are_told_of_and_done_again(unheard: Grid) -> None:
    """The qmaster was killed while they were on their way; what the node was told is lost."""
    assert words_of(unheard) == ["t", "t", "t"]
    unheard.site.daemon("kill", "sge_qmaster")
    unheard.site.daemon("start", "sge_qmaster")
    wake(unheard)
    unheard.run_until(lambda: events(unheard))
    assert words_of(unheard) == ["t", "t", "t"]
    [event] = events(unheard)
    assert "gamma has listed 3 jobs (e.g. " in event["message"]
    assert unheard.counts() == {"assigned": 3}
    outlive(unheard)
    unheard.run_to_end()
    assert_free_and_done_once(unheard)
    until(lambda: words_of(unheard) == [])


def words_of(gamma: Grid) -> list[str]:
    """The states of alice's jobs in qstat."""
    return [line.split()[4] for line in gamma.site.sh("qstat").splitlines()[2:]]
