"""What a batch system says of jobs that wait is kept for as long as it says it; what waits in vain goes elsewhere."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.drivers.local import LocalDriver
from cigri.flow.clusters import enable_cluster
from cigri.flow.event_fixes import fix_events
from cigri.flow.views.metrics import find_figures
from cigri.flow.waiting_reasons import list_queue_outlooks
from cigri.identity.callers import Caller
from cigri.shell.results import ShellResult
from tests.grid import Grid, local_site
from tests.localbatch.host import Host

OPEN = "SELECT code, subject, level::text, message FROM events WHERE closed_at IS NULL ORDER BY id"
KEPT = "SELECT local_user, said, meaning, is_stuck, jobs FROM waiting_reasons ORDER BY said"
FOREVER = "exec sleep 300"
Saying = Callable[..., None]


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Saying:
    """Let the batch system of a cluster say something of each job that waits there."""
    said: dict[str, object] = {}

    def say(reason: str, meaning: str = "", *, is_stuck: bool = False, expected: float | None = None) -> None:
        said.update(reason=reason, meaning=meaning, is_stuck=is_stuck, expected=expected)

    def parse_status(driver: LocalDriver, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        jobs = read(driver, answer, prefix)
        return [replace(job, **said) if job.state is RemoteJobState.WAITING else job for job in jobs]  # type: ignore[arg-type]

    read = LocalDriver.parse_status
    monkeypatch.setattr(LocalDriver, "parse_status", parse_status)
    return say


def full(grid: Grid, waiting: int, **fields: object) -> int:
    """Four jobs run and so many wait behind them."""
    campaign = grid.submit([str(number) for number in range(4 + waiting)], command=FOREVER, **fields)
    live = "SELECT count(*) FROM jobs WHERE campaign_id = :id AND state IN ('submitted', 'running')"
    grid.run_until(lambda: grid.one(live, id=campaign) == 4 + waiting)
    return campaign


def kept(grid: Grid) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in grid.rows(KEPT)]


def test_a_reason_that_passes_is_kept_while_it_is_said(local: Grid, says: Saying) -> None:
    """Since when, stays; what moves by seconds is not written anew; nobody is told by an event."""
    begins = datetime.now(UTC) + timedelta(hours=1)
    says("Priority", "others go first", expected=begins.timestamp())
    full(local, 3)
    local.run_until(lambda: kept(local) == [(local.site.user, "Priority", "others go first", False, 3)])
    before = local.rows("SELECT *, xmin::text FROM waiting_reasons")
    assert before[0]["starts_at"] == begins
    says("Priority", "others go first", expected=begins.timestamp() + 30)
    local.cycle()
    assert local.rows("SELECT *, xmin::text FROM waiting_reasons") == before
    says("Priority", "others go first", expected=begins.timestamp() + 90)
    local.cycle()
    [after] = local.rows("SELECT * FROM waiting_reasons")
    assert after["starts_at"] == begins + timedelta(seconds=90)
    assert after["since"] == before[0]["since"]
    says("Re\x1bsources")
    local.cycle()
    assert kept(local) == [(local.site.user, r"Re\x1bsources", "", False, 3)]
    assert local.rows(OPEN) == []
    with local.database.read() as conn:
        assert list_queue_outlooks(conn) == {}  # four of its jobs run
    says("")
    local.cycle()
    assert kept(local) == []


def test_where_there_is_no_other_cluster_jobs_go_on_waiting_and_it_is_told_once(local: Grid, says: Saying) -> None:
    says("Spent", "the allocation is used up", is_stuck=True)
    campaign = full(local, 3)
    local.run_until(lambda: kept(local) == [(local.site.user, "Spent", "the allocation is used up", True, 3)])
    [told] = local.rows(OPEN)
    assert (told["code"], told["subject"], told["level"]) == (
        "JOBS_CANNOT_START",
        f"campaign {campaign} on here",
        "error",
    )
    assert (
        "3 of its jobs wait there for what does not come by itself: the allocation is used up (Spent); none of its"
        in (told["message"])
    )
    local.cycle()
    assert local.rows("SELECT count FROM events WHERE code = 'JOBS_CANNOT_START'")[0]["count"] <= 3
    assert local.one("SELECT count(*) FROM kills") == 0
    assert local.one("SELECT strikes FROM campaign_clusters") == 0
    with local.database.read() as conn:
        assert [one.stuck for one in find_figures(conn).clusters] == [3]
    says("Priority")
    local.cycle()
    assert local.rows(OPEN) == []


@pytest.fixture
def two(local: Grid, tmp_path: Path) -> Iterator[Grid]:
    """The grid has this host twice: as `here`, and as `there`, which gets no jobs at first."""
    host = Host(tmp_path / "second")
    local.add(local_site(host.spool, "there"))
    enable(local, "there", enabled=False)
    yield local
    host.clear()


def enable(grid: Grid, name: str, *, enabled: bool) -> None:
    with grid.database.begin() as conn:
        enable_cluster(conn, name, enabled=enabled)


def test_what_waits_in_vain_is_taken_back_and_its_cluster_left_alone(two: Grid, says: Saying) -> None:
    """Running jobs stay, tasks lose nothing by it, and after the pause one job tries again; --fix tries at once."""
    local = two
    says("")
    campaign = full(local, 3, clusters={"here": {}, "there": {}})
    says("Spent", is_stuck=True)
    local.run_until(lambda: local.rows(OPEN))
    assert "none of its other clusters can take them" in local.rows(OPEN)[0]["message"]
    enable(local, "there", enabled=True)
    local.run_until(lambda: local.one("SELECT count(*) FROM kills WHERE reason = 'cannot_start'") == 3)
    says("")
    [told] = local.rows(OPEN)
    assert "they are taken back for its other clusters, and none is sent there until" in told["message"]
    part = "SELECT strikes, p.blocked_until > now() + interval '9 minutes' AS rests FROM campaign_clusters p "
    part += "JOIN clusters c ON c.id = p.cluster_id WHERE c.name = 'here'"
    assert [tuple(row.values()) for row in local.rows(part)] == [(1, True)]
    ended = "SELECT outcome::text FROM jobs WHERE state = 'ended'"
    local.run_until(lambda: [row["outcome"] for row in local.rows(ended)] == ["withdrawn"] * 3)
    assert local.one("SELECT sum(failures + deaths) FROM tasks") == 0
    assert local.one("SELECT count(*) FROM jobs WHERE state = 'running'") >= 4
    assert [row["code"] for row in local.rows(OPEN)] == ["JOBS_CANNOT_START"]
    local.assert_sane()
    with local.database.begin() as conn:
        event = conn.execute(text("SELECT id FROM events WHERE code = 'JOBS_CANNOT_START'")).scalar_one()
        assert fix_events(conn, [event], Caller(local.site.user), resubmit=False) == 1
    assert [tuple(row.values()) for row in local.rows(part)] == [(0, None)]
    assert local.rows("SELECT 1 FROM events WHERE closed_at IS NULL") == []
    assert campaign == 1


def test_accounts_that_have_no_job_there_any_more_wait_for_nothing(local: Grid, says: Saying) -> None:
    says("Spent", is_stuck=True)
    full(local, 2)
    local.run_until(lambda: kept(local))
    local.kill_all_jobs()
    local.run_to_end()
    local.cycle()
    assert kept(local) == []
    assert local.rows(OPEN) == []


def test_a_campaign_of_which_all_jobs_wait_in_vain_has_no_end(local: Grid, says: Saying) -> None:
    says("Priority", expected=datetime(2040, 1, 1, tzinfo=UTC).timestamp())
    full(local, 0)
    second = local.submit(["1", "2"])
    local.run_until(lambda: kept(local) == [(local.site.user, "Priority", "", False, 2)])
    with local.database.read() as conn:
        [(of, outlook)] = list_queue_outlooks(conn).items()
    assert (of, outlook.starts_at, outlook.is_stuck) == (second, datetime(2040, 1, 1, tzinfo=UTC), False)
    says("Spent", is_stuck=True)
    local.cycle()
    with local.database.read() as conn:
        assert list_queue_outlooks(conn)[second].is_stuck
