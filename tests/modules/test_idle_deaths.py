"""Jobs that die before they have done anything are sent less and less often, until one of them works."""

import pytest
from sqlalchemy import text

from cigri.drivers.local import LocalDriver
from cigri.flow.ends import EndedJob
from cigri.states import JobKind, Outcome
from cigri.wrapper import JournalState
from modules.updator.idle_deaths import find_idle_deaths
from modules.updator.job_conclusions import JournalSummary, VisitEnds
from tests.grid import Grid

OPEN = "SELECT code, subject, message FROM events WHERE closed_at IS NULL ORDER BY id"


def deaths(grid: Grid) -> int:
    return int(grid.one("SELECT idle_deaths FROM campaign_clusters"))


def later(grid: Grid) -> None:
    """As if the campaign's pause on the cluster were over."""
    with grid.database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET blocked_until = now() WHERE blocked_until IS NOT NULL"))


def all_ended(grid: Grid) -> bool:
    return bool(grid.one("SELECT count(*) FROM jobs WHERE state <> 'ended'") == 0)


def ended(outcome: Outcome, lasted: float | None = 1.0) -> EndedJob:
    return EndedJob(7, 3, JobKind.TASKS, outcome, 74, "n1", "no room", None, lasted)


def test_jobs_that_die_at_once_are_sent_less_and_less_often(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    prelude = LocalDriver.prelude
    monkeypatch.setattr(LocalDriver, "prelude", "exit 74\n")  # as where its journal cannot be written
    local.submit([str(number) for number in range(8)])
    local.run_until(lambda: deaths(local) == 2)
    pause = "SELECT extract(epoch FROM blocked_until - now()) FROM campaign_clusters"
    assert 5 < local.one(pause) <= 10
    [said] = local.rows(OPEN)
    assert (said["code"], said["subject"]) == ("JOBS_DO_NOTHING", "campaign 1 on here")
    assert said["message"].startswith("2 times in a row its jobs died at once without having done anything; none is ")
    local.run_until(lambda: all_ended(local))
    before = local.one("SELECT count(*) FROM jobs")
    for _ in range(3):
        local.cycle()
    assert local.one("SELECT count(*) FROM jobs") == before
    later(local)
    local.run_until(lambda: deaths(local) == 3)
    assert local.one("SELECT count(*) FROM jobs") == before + 1  # one at a time
    assert 15 < local.one(pause) <= 20
    monkeypatch.setattr(LocalDriver, "prelude", prelude)
    later(local)
    local.run_to_end()
    assert deaths(local) == 0
    assert local.rows(OPEN) == []
    local.assert_each_ran_once(8)


def test_only_what_has_not_begun_and_was_not_killed_counts() -> None:
    def examples(job: EndedJob, journal: JournalSummary | None) -> dict[int, str]:
        journals = {} if journal is None else {7: journal}
        return find_idle_deaths(VisitEnds([], [job], set()), [], {}, journals).examples

    absent, fifo = JournalSummary(), JournalSummary(state=JournalState.STARTED)
    for outcome in (Outcome.LOST, Outcome.NODE_FAILURE):
        for journal in (absent, fifo):
            assert examples(ended(outcome), journal) == {3: "job 7: no room"}
    assert examples(ended(Outcome.PREEMPTED), absent) == {}
    assert examples(ended(Outcome.LOST, 3600.0), absent) == {}
    assert examples(ended(Outcome.LOST), fifo._replace(has_start=True)) == {}
    assert examples(ended(Outcome.LOST), fifo._replace(state=JournalState.UNREAD)) == {}
    assert examples(ended(Outcome.LOST), None) == {}
