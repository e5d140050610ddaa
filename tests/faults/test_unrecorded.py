"""What batch systems say of jobs without a record, when they have lost or mixed up their state: none is done twice."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import import_module

import pytest

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.drivers.local import LocalDriver
from cigri.flow.clusters import put_cluster
from cigri.flow.kill_requests import request_kills
from cigri.shell.results import ShellResult
from cigri.states import KillReason
from tests.grid import Grid, until

LOST_AFTER = 1.0
Lie = Callable[[RemoteJob], RemoteJob | None]


@pytest.fixture
def forgetful(local: Grid) -> Grid:
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, local.site.config | {"lost_after": LOST_AFTER, "record_grace": 0.5})
    return local


def lie_of(monkeypatch: pytest.MonkeyPatch, lie: Lie) -> None:
    """The queue shows no job of which `lie` has another word for the history, or (None) which it has forgotten."""
    listed, known = LocalDriver.parse_status, LocalDriver.parse_history

    def parse_status(driver: LocalDriver, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        return [job for job in listed(driver, answer, prefix) if lie(job) is job]

    def parse_history(driver: LocalDriver, answer: ShellResult) -> list[RemoteJob]:
        return [told for job in known(driver, answer) if (told := lie(job)) is not None]

    monkeypatch.setattr(LocalDriver, "parse_status", parse_status)
    monkeypatch.setattr(LocalDriver, "parse_history", parse_history)


def go_on_for(grid: Grid, seconds: float) -> None:
    """Cycle while jobs are missing for so long."""
    missing = "SELECT coalesce(max(extract(epoch FROM now() - missing_since)), 0) FROM jobs WHERE state <> 'ended'"
    grid.run_until(lambda: grid.one(missing) > seconds)


def hang(grid: Grid, tasks: Sequence[str]) -> None:
    """A campaign whose tasks run until the file `go` is there."""
    grid.submit(list(tasks), command=f"until [ -e {grid.place}/go ]; do sleep 0.1; done")
    grid.run_until(lambda: len(grid.executions()) == len(tasks))


@pytest.mark.parametrize("exit_code", [0, 3])
def test_an_end_in_the_history_of_a_job_that_never_started_is_no_end_of_its_task(
    forgetful: Grid, monkeypatch: pytest.MonkeyPatch, exit_code: int
) -> None:
    """The job's id is that of an earlier one. It starts long after its task was given to another one."""
    hang(forgetful, ["a", "b", "c", "d"])  # the cluster is full
    campaign = forgetful.submit(["x", "y"], command=f"echo $CIGRI_JOB_ID >>{forgetful.place}/jobs")
    forgetful.run_until(lambda: forgetful.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 6)
    tag = forgetful.one("SELECT tag FROM batches WHERE campaign_id = :id", id=campaign)
    state = RemoteJobState.FAILED if exit_code else RemoteJobState.SUCCEEDED
    lie_of(monkeypatch, lambda job: replace(job, state=state, exit_code=exit_code) if job.tag == tag else job)
    lost = "SELECT count(*) FROM attempts WHERE outcome = 'lost'"
    forgetful.run_until(lambda: forgetful.one(lost) == 2)
    assert "done" not in forgetful.counts()
    monkeypatch.undo()
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()
    assert forgetful.counts() == {"done": 6}
    ran = forgetful.site.sh(f"cat {forgetful.place}/jobs").split()
    last = forgetful.rows("SELECT job_id FROM attempts WHERE outcome = 'success' ORDER BY job_id DESC LIMIT 2")
    assert sorted(map(int, ran)) == sorted(row["job_id"] for row in last)
    assert forgetful.one("SELECT count(*) FROM tasks WHERE campaign_id = :id AND deaths = 1", id=campaign) == 2


def test_a_job_whose_journal_was_not_read_is_looked_for_again(forgetful: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals before its own have filled the answer."""
    hang(forgetful, ["a", "b"])
    lie_of(monkeypatch, lambda job: None)
    monkeypatch.setattr(import_module("cigri.wrapper.journal"), "ANSWER_BYTES", 0)
    begun = forgetful.one("SELECT now()")
    forgetful.run_until(lambda: forgetful.one("SELECT now()") > begun + timedelta(seconds=4 * LOST_AFTER))
    assert forgetful.counts() == {"assigned": 2}
    assert forgetful.one("SELECT count(*) FROM attempts") == 2
    assert forgetful.rows("SELECT 1 FROM events WHERE code = 'JOB_UNACCOUNTED'") == []
    monkeypatch.undo()
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()
    forgetful.assert_each_ran_once(2)


@pytest.mark.parametrize("word", [None, RemoteJobState.UNKNOWN, RemoteJobState.SUCCEEDED], ids=str)
def test_a_running_job_of_which_its_batch_system_knows_nothing_is_not_done_again(
    forgetful: Grid, monkeypatch: pytest.MonkeyPatch, word: RemoteJobState | None
) -> None:
    hang(forgetful, ["x"])
    lie_of(monkeypatch, lambda job: replace(job, state=word, exit_code=0) if word else None)
    go_on_for(forgetful, 3 * LOST_AFTER)
    assert forgetful.counts() == {"assigned": 1}
    [event] = forgetful.rows("SELECT code, message FROM events WHERE closed_at IS NULL")
    assert event["code"] == "JOB_UNACCOUNTED"
    assert "griddel -j" in event["message"]
    assert "may run" in forgetful.one("SELECT reason FROM jobs")
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()
    forgetful.assert_each_ran_once(1)
    assert forgetful.rows("SELECT code FROM events WHERE closed_at IS NULL AND code = 'JOB_UNACCOUNTED'") == []


def test_all_such_jobs_of_a_batch_are_one_event(forgetful: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    hang(forgetful, ["a", "b", "c", "d"])
    lie_of(monkeypatch, lambda job: None)
    told = "SELECT subject, count, message FROM events WHERE code = 'JOB_UNACCOUNTED' AND closed_at IS NULL"
    forgetful.run_until(lambda: forgetful.one("SELECT count(*) FROM jobs WHERE reason IS NOT NULL") == 4)
    batches = {f"batch {row['id']}" for row in forgetful.rows("SELECT DISTINCT batch_id AS id FROM jobs")}
    assert len(batches) < 4
    assert {row["subject"] for row in forgetful.rows(told)} == batches
    assert any("jobs of a batch, " in row["message"] for row in forgetful.rows(told))
    largest = "SELECT batch_id FROM jobs GROUP BY batch_id ORDER BY count(*) DESC LIMIT 1"
    subject, ids = f"batch {forgetful.one(largest)}", "SELECT id FROM jobs WHERE batch_id = :batch ORDER BY id"
    of_batch = [row["id"] for row in forgetful.rows(ids, batch=forgetful.one(largest))]
    with forgetful.database.begin() as conn:
        request_kills(conn, of_batch[:1], KillReason.USER, "test")
    forgetful.run_until(lambda: forgetful.one("SELECT count(*) FROM jobs WHERE state = 'ended'") == 1)
    assert subject in {row["subject"] for row in forgetful.rows(told)}  # others of it perhaps run
    with forgetful.database.begin() as conn:
        request_kills(conn, of_batch[1:], KillReason.USER, "test")
    forgetful.run_until(lambda: subject not in {row["subject"] for row in forgetful.rows(told)})
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()


def test_a_job_that_is_known_again_is_no_mystery_any_more(forgetful: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    hang(forgetful, ["x"])
    lie_of(monkeypatch, lambda job: None)
    forgetful.run_until(lambda: forgetful.rows("SELECT 1 FROM events WHERE code = 'JOB_UNACCOUNTED'"))
    monkeypatch.undo()
    forgetful.run_until(lambda: forgetful.rows("SELECT 1 FROM events WHERE closed_at IS NOT NULL"))
    assert forgetful.rows("SELECT state::text, reason FROM jobs") == [{"state": "running", "reason": None}]
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()
    forgetful.assert_each_ran_once(1)


def test_a_user_may_give_up_a_job_that_perhaps_runs(forgetful: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    hang(forgetful, ["x"])
    lie_of(monkeypatch, lambda job: None)
    forgetful.run_until(lambda: forgetful.rows("SELECT 1 FROM events WHERE code = 'JOB_UNACCOUNTED'"))
    with forgetful.database.begin() as conn:
        assert request_kills(conn, [forgetful.one("SELECT id FROM jobs")], KillReason.USER, "test") == 1
    forgetful.run_to_end()
    assert forgetful.counts() == {"cancelled": 1}
    assert forgetful.rows("SELECT 1 FROM events WHERE closed_at IS NULL AND code = 'JOB_UNACCOUNTED'") == []


def test_a_job_that_was_started_a_second_time_while_it_runs_is_not_done_elsewhere(
    forgetful: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second start refuses with 75, and the batch system takes that for the job's end."""
    hang(forgetful, ["x"])
    base = forgetful.site.config["directory"] + "/" + forgetful.one("SELECT key FROM grid")
    batch = f"{base}/c1/b{forgetful.one('SELECT id FROM batches')}"
    again = f"CIGRI_ARRAY_INDEX=1 CIGRI_LOCAL_ID=9_1 {batch}/job {batch} 2>/dev/null; echo $?"
    assert forgetful.site.sh(again) == "75\n"
    lie_of(monkeypatch, lambda job: replace(job, state=RemoteJobState.FAILED, exit_code=75, restarts=1))
    go_on_for(forgetful, 3 * LOST_AFTER)
    assert forgetful.counts() == {"assigned": 1}
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()
    forgetful.assert_each_ran_once(1)


def test_a_job_that_is_killed_before_it_starts_does_not_start_later(forgetful: Grid) -> None:
    """As when a batch system comes back with the state of yesterday, in which the job was not killed yet."""
    hang(forgetful, ["a", "b", "c", "d"])
    forgetful.submit(["x"])
    forgetful.run_until(lambda: forgetful.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == 5)
    job = forgetful.one("SELECT id FROM jobs WHERE state = 'submitted'")
    batch = forgetful.one("SELECT batch_id FROM jobs WHERE id = :id", id=job)
    with forgetful.database.begin() as conn:
        request_kills(conn, [job], KillReason.FLOOD, "test")
    forgetful.run_until(lambda: forgetful.one("SELECT state::text FROM jobs WHERE id = :id", id=job) == "ended")
    base = forgetful.site.config["directory"] + "/" + forgetful.one("SELECT key FROM grid")
    directory = f"{base}/c2/b{batch}"
    assert forgetful.site.sh(f"CIGRI_ARRAY_INDEX=1 {directory}/job {directory} 2>/dev/null; echo $?") == "75\n"
    forgetful.site.sh(f"touch {forgetful.place}/go")
    forgetful.run_to_end()
    until(lambda: sum(forgetful.executions().values()) == 5)
    assert forgetful.counts() == {"done": 5}
    forgetful.assert_sane()
