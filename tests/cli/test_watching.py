"""`gridstat --watch` on campaigns that go on meanwhile."""

import threading
from collections.abc import Callable

import pytest

from cigri.cli import gridstat, watching
from cigri.database import Database
from cigri.flow.campaigns import cancel_campaign, close_campaigns
from cigri.states import Outcome
from tests.callers import ALICE
from tests.cli.running import Run
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.waiting import PATIENCE, looks

pytestmark = pytest.mark.usefixtures("both_ways")

COMMAND = gridstat


class Watched:
    """A watch under way in a thread, whose lines are read as they come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks: list[list[watching.WatchSnapshot]] = []
        monkeypatch.setattr(watching, "PERIOD", 0.02)
        show = watching.ProgressLines.show

        def note(lines: watching.ProgressLines, looks: list[watching.WatchSnapshot]) -> None:
            show(lines, looks)
            self.looks.append(looks)

        monkeypatch.setattr(watching.ProgressLines, "show", note)

    def wait_for(self, fact: Callable[[watching.WatchSnapshot], bool]) -> None:
        """Until its last look has shown this."""
        for _ in looks(longest=0.02, what="the watch sees it"):
            if self.looks and fact(self.looks[-1][0]):
                return


@pytest.mark.parametrize(("outcome", "status"), [(Outcome.SUCCESS, 0), (Outcome.FAILURE, 1)])
def test_a_watch_ends_with_the_campaign(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, status: int
) -> None:
    watched = Watched(monkeypatch)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)

    def work() -> None:
        watched.wait_for(lambda look: look.campaign.waiting == 2)
        with database.begin() as conn:
            jobs = submitted_jobs(conn, campaign, cluster, 2)
            run_jobs(conn, jobs)
        watched.wait_for(lambda look: look.campaign.running == 2)
        with database.begin() as conn:
            end_jobs(conn, cluster, jobs[:1])
        watched.wait_for(lambda look: look.campaign.done == 1)
        with database.begin() as conn:
            end_jobs(conn, cluster, jobs[1:], outcome, exit_code=0 if status == 0 else 1)
        watched.wait_for(lambda look: not look.campaign.assigned)
        with database.begin() as conn:
            close_campaigns(conn)

    thread = threading.Thread(target=work)
    thread.start()
    printed = run("-w", campaign)
    thread.join(PATIENCE)
    assert printed.status == status
    lines = printed.out.splitlines()
    assert lines[:2] == [
        "1 povray 0/2 (0%) R 2 waiting, 0 in jobs, 0 running",
        "1 povray 0/2 (0%) R 0 waiting, 2 in jobs, 2 running",
    ]
    assert len(lines) == len(set(lines)), "a line only for a change"
    if status == 0:
        assert lines[-1] == "1 povray 2/2 (100%) T 0 waiting, 0 in jobs, 0 running"
        assert printed.err == ""
    else:
        assert lines[-1] == "1 povray 1/2 (50%) Re 0 waiting, 0 in jobs, 0 running, 1 failed"
        assert f"gridstat -e {campaign}" in printed.err


def test_a_watch_of_nothing_ends_at_once(run: Run, database: Database) -> None:
    assert run("-w").status == 0
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 1)
        cancel_campaign(conn, campaign, ALICE)
    assert run("-w", campaign).status == 1


def test_a_watch_on_a_terminal_draws_bars_and_ctrl_c_ends_it(
    run: Run, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 6)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 2))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cigri.cli.watching.time.sleep", interrupt)
    printed = run("-w", campaign)
    assert printed.status == 130
    assert "povray" in printed.out
    assert "2/6" in printed.out
    assert "Traceback" not in printed.err
