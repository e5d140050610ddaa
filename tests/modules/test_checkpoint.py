"""Checkpoints of real tasks on the local cluster: asked for, left, continued from, and not for ever."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cigri.estimates.checkpoint_interval import CheckpointCost, choose_rhythm
from cigri.flow.checkpoint_requests import request_checkpoints
from cigri.flow.clusters import enable_cluster
from cigri.identity.callers import Caller
from tests.grid import Grid, local_site, until
from tests.localbatch.host import Host

WORK = (
    'exec >>{place}/said; echo "$(printenv CIGRI_CHECKPOINT || echo new) $PWD"; '
    "trap 'echo saved; exit 99' USR2; "
    '[ "$CIGRI_CHECKPOINT" != 1 ] || exit 0; '
    ": >{place}/begun; while :; do sleep 0.1; done"
)


def said(grid: Grid) -> list[str]:
    return grid.site.sh(f"cat {grid.place}/said").splitlines()


def outcomes(grid: Grid) -> list[str]:
    return [row["outcome"] for row in grid.rows("SELECT outcome::text FROM attempts ORDER BY task_id, number")]


def begun(grid: Grid) -> bool:
    return bool(grid.site.sh(f"ls {grid.place}").count("begun"))


def test_a_task_stops_before_the_walltime_and_is_continued_where_it_was(local: Grid) -> None:
    early = {"before_walltime": 599}  # one second after the job began
    local.submit(["1"], command=WORK.format(place=local.place), exec_directory=local.place, checkpoint=early)
    local.run_to_end()
    assert local.executions() == {0: 2}
    assert said(local) == [f"new {local.place}", "saved", f"1 {local.place}"]
    assert outcomes(local) == ["checkpointed", "success"]
    [task] = local.rows("SELECT failures, deaths, resubmissions, checkpoints FROM tasks")
    assert tuple(task.values()) == (0, 0, 0, 1)
    local.assert_sane()


def test_a_task_stops_when_its_user_asks_and_the_user_sees_that_it_has_heard(local: Grid) -> None:
    campaign = local.submit(["1"], command=WORK.format(place=local.place), checkpoint=True)
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'"))
    until(lambda: begun(local))
    with local.database.begin() as conn:
        assert request_checkpoints(conn, Caller(local.site.user), campaign_id=campaign) == 1
    local.run_to_end()
    assert outcomes(local) == ["checkpointed", "success"]
    told = local.rows("SELECT message FROM events WHERE code = 'CHECKPOINT' ORDER BY id")
    assert told[0]["message"] == f"{local.site.user} asked 1 running job for a checkpoint"
    local.assert_sane()


def test_a_task_that_goes_on_after_a_request_is_seen_to_have_heard(local: Grid) -> None:
    goes_on = f"trap ': >{local.place}/heard' USR2; until [ -e {local.place}/heard ]; do sleep 0.1; done; sleep 6"
    campaign = local.submit(["1"], command=f": >{local.place}/begun; {goes_on}", checkpoint=True)
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'"))
    until(lambda: begun(local))
    with local.database.begin() as conn:
        request_checkpoints(conn, Caller(local.site.user), campaign_id=campaign)
    local.run_until(lambda: local.one("SELECT count(*) FROM checkpoint_requests WHERE heard_at IS NOT NULL"))
    local.run_to_end()
    assert outcomes(local) == ["success"]
    assert local.rows("SELECT message FROM events WHERE code = 'CHECKPOINT' ORDER BY id")[1] == {
        "message": "1 running job signalled their tasks for a checkpoint"
    }


def test_periodic_checkpoints_come_again_and_again(local: Grid) -> None:
    counts = "n=0; trap 'n=$((n + 1))' USR2; until [ \"$n\" -ge 3 ]; do sleep 0.1; done"
    local.submit(["1"], command=counts, checkpoint={"period": 1})
    local.run_to_end()
    assert outcomes(local) == ["success"]
    assert local.one("SELECT seconds FROM attempts") >= 3


def test_where_jobs_were_killed_the_grid_asks_at_an_interval_that_pays(local: Grid) -> None:
    """One job in an hour: that is what a core is granted without a kill, and the few seconds that it has run."""
    local.submit(["1"], command=f": >{local.place}/begun; exec sleep 600", walltime=36_000, checkpoint=True)
    local.run_until(lambda: begun(local))
    [group] = local.running_groups()
    os.killpg(group, signal.SIGTERM)
    local.run_until(lambda: outcomes(local)[:1] == ["preempted"] and len(local.running_groups()) == 1)
    first, second = local.rows(
        "SELECT checkpoint_period, checkpoint_life, checkpoint_cost FROM batches ORDER BY created_at"
    )
    assert set(first.values()) == {None}
    period, life, cost = second.values()
    assert 3600 <= life < 4500
    assert cost == 120
    assert choose_rhythm(1 / life, CheckpointCost(cost), 36_000 - 120) == pytest.approx((period, life, cost), abs=1)
    told = local.site.sh(f"grep -rhoE 'cigri_period=[^ ]*' {local.site.config['directory']} | sort").split()
    assert told == ["cigri_period=", f"cigri_period={period}"]
    local.kill_all_jobs()
    local.run_to_end()


@pytest.mark.parametrize("checkpoint", [{"period": "never"}, {"period": 7200}], ids=["never", "their user's"])
def test_the_grid_does_not_choose_for_users_who_do(local: Grid, checkpoint: dict[str, object]) -> None:
    local.submit(["1"], command=f": >{local.place}/begun; exec sleep 600", walltime=36_000, checkpoint=checkpoint)
    local.run_until(lambda: begun(local))
    os.killpg(local.running_groups()[0], signal.SIGTERM)
    local.run_until(lambda: outcomes(local)[:1] == ["preempted"] and len(local.running_groups()) == 1)
    assert local.one("SELECT count(*) FROM batches") == 2
    assert local.one("SELECT count(checkpoint_period) FROM batches") == 0
    told = local.site.sh(f"grep -rhoE 'cigri_period=[^ ]*' {local.site.config['directory']} | sort -u").split()
    assert told == [f"cigri_period={checkpoint['period'] if checkpoint['period'] != 'never' else ''}"]
    local.kill_all_jobs()
    local.run_to_end()


@pytest.mark.parametrize("field", ["checkpoint", "idempotent", "neither"])
def test_a_task_is_not_continued_for_ever(local: Grid, field: str) -> None:
    local.tune("jobs", checkpoints=2)
    local.submit(["1"], command="exit 99", **({} if field == "neither" else {field: True}))
    local.run_until(lambda: local.counts() == {"failed": 1})
    [event] = local.rows("SELECT message FROM events WHERE code = 'TASK_FAILED'")
    if field == "checkpoint":
        assert outcomes(local) == ["checkpointed"] * 3
        assert event["message"].startswith(
            "checkpointed, exit code 99, once more than the setting jobs.checkpoints allows"
        )
    else:  # an idempotent task has to run for a minute first
        assert outcomes(local) == ["failure"]
    local.assert_sane()


@pytest.fixture
def two(local: Grid, tmp_path: Path) -> Iterator[Grid]:
    """A second cluster on this host, which has the first attempt of a task, while the first is disabled."""
    host = Host(tmp_path / "two")
    host.directory.mkdir()
    local.add(local_site(host.spool, "there"))
    enable(local, "here", False)
    said = f'echo "$CIGRI_CLUSTER $(printenv CIGRI_CHECKPOINT || echo new)" >>{local.place}/said'
    program = f"{said}; until [ -e {local.place}/stop ]; do sleep 0.1; done; [ -e {local.place}/over ] && exit 0"
    command = f"{program}; : >{local.place}/over; exit 99"
    local.submit(["1"], command=command, clusters={"here": {}, "there": {}}, checkpoint=True)
    local.run_until(lambda: local.executions() == {0: 1})
    yield local
    host.clear()


def enable(grid: Grid, cluster: str, enabled: bool) -> None:
    with grid.database.begin() as conn:
        enable_cluster(conn, cluster, enabled=enabled)


def test_a_task_continues_on_its_cluster_though_another_would_come_first(two: Grid) -> None:
    enable(two, "here", True)
    two.site.sh(f"touch {two.place}/stop")
    two.run_to_end()
    assert said(two) == ["there new", "there 1"]
    two.assert_sane()


def test_a_task_whose_cluster_is_away_waits_a_while_and_then_begins_anew_elsewhere(two: Grid) -> None:
    enable(two, "here", True)
    enable(two, "there", False)
    two.site.sh(f"touch {two.place}/stop")
    two.run_until(lambda: outcomes(two) == ["checkpointed"])
    for _ in range(3):
        two.cycle()
    assert two.counts() == {"waiting": 1}
    two.tune("jobs", same_cluster=0.0)
    two.run_to_end()
    assert said(two) == ["there new", "here new"]
    two.assert_sane()
