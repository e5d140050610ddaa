"""What a cluster says to a submission that fails belongs to the campaign whose it was, and to nobody else."""

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.drivers import BatchRequest
from cigri.drivers.local import LocalDriver
from cigri.endpoints.campaigns import find_campaign, list_shares
from cigri.errors import ClusterUnreachable, RemoteOutcomeUnknown
from cigri.flow.clusters import ClusterRow
from cigri.flow.event_fixes import fix_events
from cigri.flow.views.campaigns import grid_time
from cigri.gateway.transport_gateway import TransportGateway
from cigri.identity.callers import Caller
from cigri.presentation.run_status import run_status
from cigri.settings.sections import Settings
from cigri.shell.results import ShellResult
from modules import campaign_schedulers, metascheduler, runner, updator
from tests.grid import Grid

BANNER = "Welcome to dahu.\n  arrays are switched off here"
REFUSES = "printf '%s\\n' 'Welcome to dahu.' '  arrays are switched off here' >&2; exit 1"
OPEN = "SELECT code, subject, level::text, message FROM events WHERE closed_at IS NULL ORDER BY id"


@pytest.fixture
def wrapped(local: Grid, monkeypatch: pytest.MonkeyPatch) -> Grid:
    """A cluster whose command of submission is the site's own, which likes no array of two or more."""
    say = LocalDriver.submit

    def submit(driver: LocalDriver, request: BatchRequest) -> str:
        return say(driver, request) if request.size < 2 else f"( {REFUSES} )"

    monkeypatch.setattr(LocalDriver, "submit", submit)
    return local


def later(grid: Grid) -> None:
    """As if the campaign's pause on the cluster were over."""
    with grid.database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET blocked_until = now() WHERE blocked_until IS NOT NULL"))


def pause(grid: Grid) -> float:
    """In seconds, of the only campaign."""
    return float(grid.one("SELECT extract(epoch FROM blocked_until - now()) FROM campaign_clusters"))


def tried(grid: Grid, times: int) -> bool:
    return bool(grid.one("SELECT max(failed_sends) FROM campaign_clusters") == times)


def test_words_that_nobody_knows_are_a_refusal_the_third_time(wrapped: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalDriver, "submit", lambda driver, request: f"( {REFUSES} )")
    campaign = wrapped.submit(["1", "2", "3"])
    wrapped.run_until(lambda: tried(wrapped, 1))
    assert 5 < pause(wrapped) <= 10
    [said] = wrapped.rows(OPEN)
    assert (said["code"], said["subject"], said["level"]) == ("SUBMISSION_FAILED", "campaign 1 on here", "error")
    assert said["message"].startswith("try 1 of 3 to submit its jobs failed, the next is at ")
    assert said["message"].endswith(f"local batch system (exit status 1): {BANNER}")
    for _ in range(3):
        wrapped.cycle()
    assert wrapped.one("SELECT count(*) FROM batches") == 1
    later(wrapped)
    wrapped.run_until(lambda: tried(wrapped, 2))
    assert 15 < pause(wrapped) <= 20
    later(wrapped)
    wrapped.run_until(lambda: tried(wrapped, 3))
    assert 50 < pause(wrapped) <= 60
    [said] = wrapped.rows(OPEN)
    assert (said["code"], said["subject"]) == ("CLUSTER_SET_ASIDE", "campaign 1 on here")
    assert said["message"].startswith("its jobs are refused; ")
    assert said["message"].endswith(BANNER)
    assert wrapped.one("SELECT failures FROM clusters") == 0
    assert wrapped.counts() == {"waiting": 3}
    assert wrapped.one("SELECT sum(deaths + failures) FROM tasks") == 0
    files = Path(wrapped.site.config["directory"]) / wrapped.one("SELECT key FROM grid")
    assert list(files.glob("c*/*")) == []
    assert campaign == 1


def test_a_campaign_that_the_cluster_takes_goes_on_beside_one_that_it_refuses(wrapped: Grid) -> None:
    wrapped.submit(["1", "2"])
    wrapped.run_until(lambda: tried(wrapped, 1))
    other = wrapped.submit(["1"])
    wrapped.run_until(lambda: wrapped.one("SELECT ended_at IS NOT NULL FROM campaigns WHERE id = :id", id=other))
    assert {row["code"] for row in wrapped.rows(OPEN)} == {"SUBMISSION_FAILED"}


def test_a_submission_that_succeeds_heals_what_failed_before(wrapped: Grid) -> None:
    wrapped.submit(["1", "2"])
    wrapped.run_until(lambda: tried(wrapped, 1))
    later(wrapped)
    wrapped.run_to_end()  # one job on trial, then the other: no array
    assert wrapped.rows(OPEN) == []
    assert tried(wrapped, 0)
    wrapped.assert_each_ran_once(2)


def test_a_person_has_it_tried_again_at_once(wrapped: Grid) -> None:
    wrapped.submit(["1", "2"])
    wrapped.run_until(lambda: tried(wrapped, 1))
    with wrapped.database.begin() as conn:
        (event,) = conn.scalars(text("SELECT id FROM events WHERE code = 'SUBMISSION_FAILED'"))
        assert fix_events(conn, [event], Caller(wrapped.site.user), resubmit=False) == 1
    assert tried(wrapped, 0)
    wrapped.run_until(lambda: wrapped.one("SELECT count(*) FROM batches") == 2)


def test_what_the_queue_has_was_submitted_whatever_is_said(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster is full, so that its jobs wait there, and nothing but the queue tells of them."""
    local.submit(["a", "b", "c", "d"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 4)
    say = LocalDriver.submit
    monkeypatch.setattr(LocalDriver, "submit", lambda driver, request: f"{say(driver, request)} >/dev/null; {REFUSES}")
    campaign = local.submit(["1", "2", "3"])
    local.run_until(lambda: local.rows("SELECT 1 FROM batches WHERE campaign_id = :id", id=campaign))
    (Path(local.place) / "go").touch()
    local.run_to_end()
    assert local.counts() == {"done": 7}
    assert local.rows("SELECT 1 FROM batches WHERE state = 'void'") == []
    assert local.rows("SELECT code FROM events WHERE level <> 'info'") == []


class CutOffAfterwards(TransportGateway):
    """What was submitted is on the cluster, and its front-end is away when the queue is asked of it."""

    is_away = True

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if self.is_away and '"verb": "history"' in script and '"verb": "submit"' not in script:
            raise ClusterUnreachable(cluster.name, "no route to host", is_front_end=True)
        return super().run(cluster, user, script)


def test_what_was_sent_is_never_put_back_though_the_queue_cannot_be_asked(
    local: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its command failed, but it was submitted: the next pass adopts it."""
    say = LocalDriver.submit
    monkeypatch.setattr(LocalDriver, "submit", lambda driver, request: f"{say(driver, request)} >/dev/null; {REFUSES}")
    local.submit(["1", "2", "3"])
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    with closing(CutOffAfterwards()) as gateway:
        runner.run_once(local.tools._replace(gateway=gateway))
    assert local.one("SELECT state::text FROM batches") == "launching"
    assert [row["code"] for row in local.rows(OPEN)] == ["CLUSTER_UNREACHABLE"]
    with local.database.begin() as conn:
        conn.execute(text("UPDATE clusters SET blocked_until = now() - interval '1 s'"))
    local.run_to_end()
    local.assert_each_ran_once(3)


class SubmissionHangs(TransportGateway):
    """Whoever submits has no answer in time; all else is answered."""

    def run(self, cluster: ClusterRow, user: str, script: str) -> ShellResult:
        if '"verb": "submit"' in script:
            raise RemoteOutcomeUnknown(cluster.name, f"no answer within 60 s from the script of {user}")
        return super().run(cluster, user, script)


def test_a_cluster_that_answers_is_not_blamed_for_the_submission_of_its_own_visitor(local: Grid) -> None:
    """Here the account that looks at the cluster is the one that submits; other accounts go on."""
    local.submit(["1"])
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    with closing(SubmissionHangs()) as gateway:
        runner.run_once(local.tools._replace(gateway=gateway))
    assert local.one("SELECT failures FROM clusters") == 0
    [said] = local.rows(OPEN)
    assert (said["code"], said["subject"]) == ("ACCOUNT_REFUSED", f"account {local.site.user} on here")
    updator.run_once(local.tools)
    assert local.rows(OPEN) == []
    local.run_to_end()
    local.assert_each_ran_once(1)


def test_why_nothing_runs_is_told_in_the_clusters_words(wrapped: Grid) -> None:
    campaign = wrapped.submit(["1", "2"])
    wrapped.run_until(lambda: tried(wrapped, 1))
    with wrapped.database.begin() as conn:
        caller = Caller(wrapped.site.user)
        found = find_campaign(conn, campaign)
        [part] = list_shares(conn, caller, found)
        told = run_status(found, part, grid_time(conn), Settings())
    assert told.state == "set aside"
    assert BANNER in told.explanation
    assert found.errors == 1
