"""Who is killed and why, on the real local cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.drivers import Driver
from cigri.drivers.local import LocalDriver
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.cancellations import kill_job
from cigri.flow.clusters import put_cluster
from cigri.identity.callers import Caller
from modules import killer, updator
from tests.grid import Grid, Site, local_site, until
from tests.localbatch.host import Host

FOREVER = "exec sleep 300"


def jobs(grid: Grid, state: str) -> int:
    return int(grid.one("SELECT count(*) FROM jobs WHERE state = CAST(:state AS job_state)", state=state))


def kills(grid: Grid) -> list[str]:
    return [row["reason"] for row in grid.rows("SELECT reason::text FROM kills ORDER BY job_id")]


def configure(grid: Grid, **changes: object) -> None:
    with grid.database.begin() as conn:
        put_cluster(conn, grid.site.name, grid.site.config | changes)


def age(grid: Grid, column: str, seconds: float) -> None:
    """As if it had happened earlier."""
    with grid.database.begin() as conn:
        table = "kills" if column == "sent_at" else "jobs"
        conn.exec_driver_sql(f"UPDATE {table} SET {column} = {column} - interval '{seconds} s'")


def full(grid: Grid, waiting: int, command: str = FOREVER) -> None:
    """Four jobs run and so many wait behind them."""
    grid.submit([str(number) for number in range(4 + waiting)], command=command)
    grid.run_until(lambda: (jobs(grid, "running"), jobs(grid, "submitted")) == (4, waiting))


def test_a_user_kills_a_waiting_and_a_running_job(local: Grid) -> None:
    full(local, 2)
    (running,) = local.rows("SELECT id FROM jobs WHERE state = 'running' LIMIT 1")
    (waiting,) = local.rows("SELECT id FROM jobs WHERE state = 'submitted' LIMIT 1")
    with local.database.begin() as conn:
        for row in (running, waiting):
            assert kill_job(conn, row["id"], Caller(local.site.user))
    local.run_until(lambda: local.counts() == {"assigned": 4, "cancelled": 2})
    assert local.rows("SELECT DISTINCT outcome::text FROM jobs WHERE state = 'ended'") == [{"outcome": "killed"}]
    assert local.one("SELECT count(*) FROM kills WHERE is_open") == 0
    with local.database.begin() as conn:
        cancel_campaign(conn, 1, Caller(local.site.user))
    local.run_until(lambda: local.counts() == {"cancelled": 6})
    assert not local.one("SELECT count(*) FROM events WHERE level <> 'info'")
    local.assert_sane()


def test_a_flooded_queue_gives_back_its_newest_jobs_free_of_charge(local: Grid) -> None:
    full(local, 6, f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    configure(local, max_waiting=2)
    assert killer.run_once(local.tools)["flood kills"] == 4
    newest = local.rows("SELECT id FROM jobs ORDER BY id DESC LIMIT 4")
    assert local.rows("SELECT job_id AS id FROM kills ORDER BY job_id DESC") == newest
    assert killer.run_once(local.tools) == {"clusters": 1}
    local.run_until(lambda: local.counts() == {"assigned": 6, "waiting": 4})
    assert local.rows("SELECT DISTINCT priority, failures, deaths FROM tasks WHERE state = 'waiting'") == [
        {"priority": 20, "failures": 0, "deaths": 0}
    ]
    assert jobs(local, "submitted") == 2
    configure(local)
    (Path(local.place) / "go").touch()
    local.run_to_end()
    local.assert_each_ran_once(10)


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Site]:
    """A second cluster, its daemon ended afterwards."""
    (tmp_path / "other").mkdir()
    host = Host(tmp_path / "other")
    yield local_site(host.spool, "there")
    host.clear()


def test_a_job_that_waits_too_long_is_tried_elsewhere(local: Grid, there: Site) -> None:
    local.tune("jobs", waiting_too_long=500.0)
    full(local, 1)
    age(local, "submitted_at", 600)
    killer.run_once(local.tools)
    assert kills(local) == []  # there is no other cluster
    local.add(there)
    with local.database.begin() as conn:
        copied = "SELECT campaign_id, 2, settings, width, prologue, epilogue FROM campaign_clusters"
        conn.exec_driver_sql(
            f"INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue) {copied}"
        )
        conn.exec_driver_sql("UPDATE clusters SET is_enabled = false WHERE id = 2")
    killer.run_once(local.tools)
    assert kills(local) == []  # and one that takes no jobs is none
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE clusters SET is_enabled = true WHERE id = 2")
    updator.run_once(local.tools)  # which finds free cores there
    killer.run_once(local.tools)
    assert kills(local) == ["waiting_too_long"]
    until(lambda: updator.run_once(local.tools) and local.counts() == {"assigned": 4, "waiting": 1})
    assert local.one("SELECT outcome::text FROM jobs WHERE state = 'ended'") == "withdrawn"


def test_a_job_past_its_walltime_is_killed_and_its_task_has_failed(local: Grid) -> None:
    local.tune("jobs", walltime_slack=100.0)
    local.submit(["1", "2"], command=FOREVER, walltime=600)
    local.run_until(lambda: jobs(local, "running") == 2)
    with local.database.begin() as conn:
        conn.exec_driver_sql("UPDATE jobs SET started_at = started_at - interval '690 s' WHERE id = 1")
        conn.exec_driver_sql("UPDATE jobs SET started_at = started_at - interval '701 s' WHERE id = 2")
    killer.run_once(local.tools)
    assert kills(local) == ["walltime"]
    local.run_until(lambda: local.counts() == {"assigned": 1, "failed": 1})
    assert local.one("SELECT message FROM events WHERE code = 'TASK_FAILED'").startswith("walltime, exit code ")


def test_a_kill_without_effect_is_sent_again_and_then_complained_about(
    local: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.submit(["1"], command=FOREVER)
    local.run_until(lambda: jobs(local, "running") == 1)
    local.kill_all_jobs()
    effective = LocalDriver.cancel
    monkeypatch.setattr(LocalDriver, "cancel", lambda driver, ids: effective(driver, ["999_1"]))
    for tries in range(1, 6):
        assert not local.rows("SELECT 1 FROM events WHERE code = 'KILL_PROBLEM'")
        assert killer.run_once(local.tools)["killed jobs"] == 1
        assert killer.run_once(local.tools)["killed jobs"] == 0
        assert local.one("SELECT tries FROM kills") == tries
        age(local, "sent_at", 61)
    assert "still there after 5 kills" in local.one("SELECT message FROM events WHERE code = 'KILL_PROBLEM'")
    monkeypatch.undo()
    local.run_until(lambda: local.counts() == {"cancelled": 1})
    killer.run_once(local.tools)
    assert local.rows("SELECT 1 FROM events WHERE code = 'KILL_PROBLEM' AND closed_at IS NULL") == []
    local.assert_sane()


def test_a_kill_that_the_cluster_does_not_take_is_due_again_at_once(
    local: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.submit(["1"], command=FOREVER)
    local.run_until(lambda: jobs(local, "running") == 1)
    local.kill_all_jobs()
    monkeypatch.setattr(LocalDriver, "cancel", lambda _driver, _ids: "echo no >&2; exit 1")
    assert killer.run_once(local.tools) == {"clusters": 1}
    assert local.rows("SELECT sent_at, tries FROM kills") == [{"sent_at": None, "tries": 1}]
    assert "1 jobs could not be killed" in local.one("SELECT message FROM events WHERE code = 'KILL_PROBLEM'")
    killer.run_once(local.tools)
    assert local.rows("SELECT count FROM events WHERE code = 'KILL_PROBLEM' AND closed_at IS NULL") == [{"count": 2}]
    monkeypatch.undo()
    local.run_until(lambda: local.counts() == {"cancelled": 1})


def test_a_job_that_ends_by_itself_meanwhile_has_done_its_task(local: Grid) -> None:
    local.submit(["1"], command=f"until [ -e {local.place}/go ]; do sleep 0.05; done")
    local.run_until(lambda: jobs(local, "running") == 1)
    driver: Driver = LocalDriver({"spool": str(local.site.config["options"]["spool"])})
    (Path(local.place) / "go").touch()
    until(lambda: '"running"' not in local.site.sh(driver.status("cigri")))
    local.kill_all_jobs()
    killer.run_once(local.tools)
    local.run_until(lambda: local.counts() == {"done": 1})
    assert local.one("SELECT count(*) FROM kills WHERE is_open") == 0
    local.run_to_end()
    local.assert_each_ran_once(1)
