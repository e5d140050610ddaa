"""Campaigns, shares and jobs that stand still and go on again, on the real local cluster."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.drivers import JobControl
from cigri.drivers.local import LocalDriver
from cigri.flow.cancellations import kill_job
from cigri.flow.holds import hold_campaign, hold_job, resume_campaign, resume_job
from cigri.flow.suspensions import DueSuspension
from cigri.identity.callers import Caller
from cigri.states import JobState
from modules import killer, updator
from modules.killer.suspensions import group_by_control
from tests.grid import Grid, Site, local_site, until
from tests.localbatch.host import Host

WAIT = "until [ -e {place}/go ]; do sleep 0.05; done"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Site]:
    """Another cluster of this host."""
    host = Host(tmp_path / "other")
    yield local_site(host.spool, "there")
    host.clear()


def stand(grid: Grid) -> dict[str, int]:
    """How many jobs are in each state, the halted ones apart."""
    halted = "CASE state WHEN 'running' THEN 'suspended' ELSE 'held' END"
    counted = grid.rows(
        f"SELECT CASE WHEN halted_since IS NULL THEN state::text ELSE {halted} END AS stand, count(*)::int AS n "
        "FROM jobs WHERE state <> 'ended' GROUP BY 1"
    )
    return {row["stand"]: row["n"] for row in counted}


def full(grid: Grid, tasks: int = 6) -> int:
    """Four jobs run until the file `go` is there, the others wait behind them."""
    campaign = grid.submit([str(number) for number in range(tasks)], command=WAIT.format(place=grid.place))
    expected = {"running": 4, **({"submitted": tasks - 4} if tasks > 4 else {})}
    grid.run_until(lambda: stand(grid) == expected)
    return campaign


def go(grid: Grid) -> None:
    (Path(grid.place) / "go").touch()


def hold(grid: Grid, campaign: int, **how: object) -> None:
    with grid.database.begin() as conn:
        hold_campaign(conn, campaign, Caller(grid.site.user), **how)  # type: ignore[arg-type]  # as each test wants


def resume(grid: Grid, campaign: int, cluster: str = "") -> None:
    with grid.database.begin() as conn:
        resume_campaign(conn, campaign, Caller(grid.site.user), cluster=cluster)


def events(grid: Grid) -> list[str]:
    found = grid.rows("SELECT message FROM events WHERE code LIKE '%_PROBLEM' AND closed_at IS NULL ORDER BY id")
    return [row["message"] for row in found]


def age(grid: Grid, table: str, column: str, seconds: float) -> None:
    """As if it had happened earlier."""
    with grid.database.begin() as conn:
        conn.exec_driver_sql(f"UPDATE {table} SET {column} = {column} - interval '{seconds} s'")


def test_a_held_campaign_stands_still_and_then_each_task_runs_once(local: Grid) -> None:
    local.tune("jobs", verify_kill=0.1)
    with local.database.begin() as conn:
        conn.exec_driver_sql('UPDATE clusters SET config = config || \'{"max_waiting": 2, "keep_waiting": 2}\'')
    campaign = local.submit([str(number) for number in range(9)], command=WAIT.format(place=local.place))
    local.run_until(lambda: stand(local) == {"running": 4, "submitted": 2})
    hold(local, campaign)
    commands = local.gateway.commands["here"]
    assert killer.run_once(local.tools) == {"clusters": 1, "held jobs": 2, "suspended jobs": 4}
    assert local.gateway.commands["here"] == commands + 1
    local.run_until(lambda: stand(local) == {"suspended": 4, "held": 2})
    go(local)
    for _ in range(3):
        local.cycle()
    assert stand(local) == {"suspended": 4, "held": 2}  # no new jobs, and nothing ends
    assert local.counts() == {"assigned": 6, "waiting": 3}
    resume(local, campaign)
    commands = local.gateway.commands["here"]
    assert killer.run_once(local.tools) == {"clusters": 1, "released jobs": 2, "resumed jobs": 4}
    assert local.gateway.commands["here"] == commands + 1
    local.run_to_end()
    local.assert_each_ran_once(9)
    assert local.one("SELECT count(*) FROM halts") == 0
    assert events(local) == []


def test_the_time_for_which_tasks_stood_still_is_none_of_theirs(local: Grid) -> None:
    campaign = full(local, 4)
    hold(local, campaign)
    local.run_until(lambda: stand(local) == {"suspended": 4})
    age(local, "jobs", "halted_since", 3600)
    resume(local, campaign)
    local.run_until(lambda: stand(local) == {"running": 4})
    age(local, "attempts", "started_at", 3600)
    seen = local.rows("SELECT halted_seconds FROM jobs")
    assert all(3600 <= row["halted_seconds"] < 7200 for row in seen)
    go(local)
    local.run_to_end()
    told = local.rows("SELECT seconds, halted_seconds FROM attempts")
    assert [row["seconds"] for row in told] == [0.0] * 4, "they ran for less than what was made up for them"
    assert all(row["halted_seconds"] > 0 for row in told)


def test_what_waits_is_held_before_its_cores_come_free(local: Grid) -> None:
    """Held after the others were suspended, some of them would have started on these cores."""
    campaign = full(local, 30)
    hold(local, campaign)
    assert killer.run_once(local.tools) == {"clusters": 1, "held jobs": 26, "suspended jobs": 4}
    local.run_until(lambda: stand(local) == {"suspended": 4, "held": 26})
    commands = [group_by_control(orders) for orders in (_orders(True), _orders(False))]
    assert [list(controls) for controls in commands] == [
        [JobControl.HOLD, JobControl.SUSPEND],
        [JobControl.RESUME, JobControl.RELEASE],
    ]
    urgent = local.submit(["0", "1"], command="true")
    local.run_until(lambda: local.one(f"SELECT state::text FROM campaigns WHERE id = {urgent}") == "terminated")
    assert stand(local) == {"suspended": 4, "held": 26}, "the cores of what stands still are for others"
    go(local)
    resume(local, campaign)
    local.run_to_end()
    assert local.executions() == Counter(range(30)) + Counter(range(2))


def _orders(is_wanted: bool) -> list[DueSuspension]:
    states = (JobState.RUNNING, JobState.SUBMITTED)
    return [DueSuspension(1, 1, "alice", "1_1", state, is_wanted, 1) for state in states]


def test_what_stands_still_is_told_once(local: Grid) -> None:
    hold(local, full(local))
    local.run_until(lambda: stand(local) == {"suspended": 4, "held": 2})
    assert killer.run_once(local.tools) == {"clusters": 1}
    age(local, "halts", "sent_at", 3600)
    assert killer.run_once(local.tools) == {"clusters": 1}
    go(local)


def test_a_wish_that_is_withdrawn_before_it_is_seen_leaves_nothing_held(local: Grid) -> None:
    local.tune("jobs", verify_kill=0.1)
    campaign = full(local)
    hold(local, campaign)
    assert killer.run_once(local.tools)["held jobs"] == 2
    resume(local, campaign)  # the updator has not looked in between
    go(local)
    local.run_to_end()
    local.assert_each_ran_once(6)


def test_only_what_waits(local: Grid) -> None:
    campaign = full(local)
    hold(local, campaign, waiting_only=True)
    local.run_until(lambda: stand(local) == {"running": 4, "held": 2})
    go(local)
    local.run_until(lambda: stand(local) == {"held": 2})
    assert local.counts() == {"done": 4, "assigned": 2}
    hold(local, campaign)
    resume(local, campaign)
    local.run_to_end()
    local.assert_each_ran_once(6)


def test_a_share_of_one_cluster(local: Grid, there: Site) -> None:
    local.add(there)
    campaign = local.submit(
        [str(number) for number in range(8)],
        command=WAIT.format(place=local.place),
        clusters={"here": {"max_jobs": 4}, "there": {"max_jobs": 4}},
    )
    local.run_until(lambda: stand(local) == {"running": 8})
    hold(local, campaign, cluster="there")
    local.run_until(lambda: stand(local) == {"running": 4, "suspended": 4})
    halted = "SELECT DISTINCT cluster_id FROM jobs WHERE halted_since IS NOT NULL"
    assert local.rows(halted) == [{"cluster_id": 2}]
    go(local)
    local.run_until(lambda: local.counts() == {"done": 4, "assigned": 4})
    resume(local, campaign, "there")
    local.run_to_end()
    local.assert_each_ran_once(8)


def test_one_job_and_never_its_successor(local: Grid) -> None:
    full(local, 4)
    (job,) = local.rows("SELECT id FROM jobs ORDER BY id LIMIT 1")
    with local.database.begin() as conn:
        hold_job(conn, job["id"], Caller(local.site.user))
    local.run_until(lambda: stand(local) == {"running": 3, "suspended": 1})
    driver = LocalDriver(local.site.config["options"])
    remote = local.one("SELECT remote_id FROM jobs WHERE id = :id", id=job["id"])
    local.site.sh(driver.cancel([remote]))  # behind our back: its task is tried again
    local.run_until(lambda: stand(local) == {"running": 4})
    assert local.one("SELECT state::text FROM jobs WHERE id = :id", id=job["id"]) == "ended"
    local.cycle()
    assert stand(local) == {"running": 4}
    assert local.one("SELECT count(*) FROM holds") + local.one("SELECT count(*) FROM halts") == 0
    go(local)
    local.run_to_end()
    assert local.counts() == {"done": 4}


def test_one_job_goes_on_again(local: Grid) -> None:
    full(local, 5)
    (waiting,) = local.rows("SELECT id FROM jobs WHERE state = 'submitted'")
    with local.database.begin() as conn:
        hold_job(conn, waiting["id"], Caller(local.site.user))
    local.run_until(lambda: stand(local) == {"running": 4, "held": 1})
    go(local)
    local.run_until(lambda: local.counts() == {"done": 4, "assigned": 1})
    with local.database.begin() as conn:
        resume_job(conn, waiting["id"], Caller(local.site.user))
    local.run_to_end()
    local.assert_each_ran_once(5)


def test_held_and_suspended_jobs_can_be_killed(local: Grid) -> None:
    campaign = full(local)
    hold(local, campaign)
    local.run_until(lambda: stand(local) == {"suspended": 4, "held": 2})
    for row in local.rows("SELECT id FROM jobs"):
        with local.database.begin() as conn:
            assert kill_job(conn, row["id"], Caller(local.site.user))
    local.run_until(lambda: local.counts() == {"cancelled": 6})
    local.assert_sane()


def test_a_cluster_that_cannot_suspend_runs_on(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalDriver, "controls", frozenset({JobControl.HOLD, JobControl.RELEASE}))
    hold(local, full(local))
    local.run_until(lambda: stand(local) == {"running": 4, "held": 2})
    go(local)
    local.run_until(lambda: stand(local) == {"held": 2})
    assert events(local) == []


def test_a_batch_system_that_refuses_is_told_of_once_and_asked_a_few_times(
    local: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = LocalDriver.control
    refuse = "echo Access/permission denied >&2; exit 1"
    monkeypatch.setattr(
        LocalDriver, "control", lambda d, verb, ids: refuse if verb is JobControl.SUSPEND else allowed(d, verb, ids)
    )
    campaign = full(local)
    hold(local, campaign)
    killer.run_once(local.tools)
    assert len(events(local)) == 1
    age(local, "halts", "sent_at", 61)
    for tries in range(2, 6):
        assert "suspended jobs" not in killer.run_once(local.tools)
        assert killer.run_once(local.tools) == {"clusters": 1}
        assert local.one("SELECT max(tries) FROM halts WHERE state = 'running'") == tries
        age(local, "halts", "sent_at", 61)
        updator.run_once(local.tools)
    assert killer.run_once(local.tools) == {"clusters": 1}
    (message,) = events(local)
    assert message.startswith("4 jobs could not be suspended (e.g. ")
    assert "they run on" in message
    assert "Access/permission denied" in message
    assert stand(local) == {"running": 4, "held": 2}
    resume(local, campaign)
    assert events(local) == []
    go(local)
    local.run_to_end()
    local.assert_each_ran_once(6)


def test_a_cluster_that_is_not_reached_is_told_at_the_next_pass(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    hold(local, full(local))
    monkeypatch.setattr(LocalDriver, "control", lambda *_: "exit 1; )")  # no shell reads this
    assert killer.run_once(local.tools) == {"clusters": 1}
    monkeypatch.undo()
    assert killer.run_once(local.tools)["suspended jobs"] == 4
    go(local)


def test_no_limit_of_time_is_for_jobs_that_stand_still(local: Grid, there: Site) -> None:
    local.tune("jobs", waiting_too_long=500.0, walltime_slack=100.0, verify_kill=0.1)
    campaign = full(local, 5)
    local.add(there)
    with local.database.begin() as conn:
        copied = "SELECT campaign_id, 2, settings, width, prologue, epilogue FROM campaign_clusters"
        conn.exec_driver_sql(
            f"INSERT INTO campaign_clusters (campaign_id, cluster_id, settings, width, prologue, epilogue) {copied}"
        )
        conn.exec_driver_sql("UPDATE clusters SET config = config || '{\"max_waiting\": 1}'")
    hold(local, campaign)
    local.run_until(lambda: stand(local) == {"suspended": 4, "held": 1})
    for column in ("submitted_at", "started_at", "halted_since"):
        age(local, "jobs", column, 3600)
    assert killer.run_once(local.tools) == {"clusters": 2}
    resume(local, campaign)
    until(lambda: local.cycle() and set(stand(local)) <= {"running", "submitted"})
    assert local.one("SELECT min(halted_seconds) FROM jobs") >= 3600
    local.cycle()
    assert local.rows("SELECT 1 FROM kills") == []
    go(local)
    local.run_to_end()
    local.assert_each_ran_once(5)


def test_what_somebody_else_holds_is_somebody_elses_to_release(local: Grid) -> None:
    campaign = full(local)
    driver = LocalDriver(local.site.config["options"])
    (foreign, _) = (row["remote_id"] for row in local.rows("SELECT remote_id FROM jobs WHERE state = 'submitted'"))
    local.site.sh(driver.control(JobControl.HOLD, [foreign]))
    local.run_until(lambda: stand(local) == {"running": 4, "submitted": 1, "held": 1})
    hold(local, campaign)
    local.run_until(lambda: stand(local) == {"suspended": 4, "held": 2})
    resume(local, campaign)
    local.run_until(lambda: stand(local) == {"running": 4, "submitted": 1, "held": 1})
    local.site.sh(driver.control(JobControl.RELEASE, [foreign]))
    go(local)
    local.run_to_end()
    local.assert_each_ran_once(6)
