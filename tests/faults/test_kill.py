"""Kill -9 between any two instructions: no task is lost, none runs twice."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from modules import campaign_schedulers, metascheduler, predictor, updator
from tests.forker import Forker
from tests.grid import Grid, until

TASKS = 6
ROOT = Path(__file__).parents[2]


def pass_that_dies(forker: Forker, grid: Grid, module: str, moment: str) -> None:
    url = grid.database.url.replace("+psycopg", "")
    said = forker.run("tests.faults.dying:main", [url, module, moment], os.environ, ROOT)
    assert said.status == -signal.SIGKILL, said


def choose_jobs(grid: Grid) -> None:
    for module in (updator, predictor, metascheduler, campaign_schedulers):
        module.run_once(grid.tools)
    assert grid.one("SELECT count(*) FROM jobs WHERE state = 'to_launch'") == TASKS


@pytest.mark.parametrize("moment", ["before", "during", "after"])
def test_a_runner_killed_at_a_submission(forker: Forker, any_grid: Grid, moment: str) -> None:
    any_grid.submit([str(number) for number in range(TASKS)])
    choose_jobs(any_grid)
    pass_that_dies(forker, any_grid, "runner", moment)
    assert any_grid.one("SELECT count(*) FROM batches WHERE state = 'launching'") == 1
    any_grid.run_to_end()
    any_grid.assert_each_ran_once(TASKS)


@pytest.mark.parametrize("moment", ["before", "during", "after"])
def test_an_updator_killed_while_it_collects(forker: Forker, any_grid: Grid, moment: str) -> None:
    any_grid.submit([str(number) for number in range(TASKS)])
    any_grid.run_until(lambda: any_grid.one("SELECT count(*) FROM jobs WHERE submitted_at IS NOT NULL") == TASKS)
    until(lambda: len(any_grid.executions()) == TASKS)
    pass_that_dies(forker, any_grid, "updator", moment)
    any_grid.run_to_end()
    any_grid.assert_each_ran_once(TASKS)


def test_a_killer_killed_before_its_kill_sends_it_at_the_next_pass(forker: Forker, grid: Grid) -> None:
    grid.submit(["1"], command="exec sleep 300")
    grid.run_until(lambda: grid.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    grid.kill_all_jobs()
    pass_that_dies(forker, grid, "killer", "before")
    grid.settings = grid.settings.model_copy(
        update={"jobs": grid.settings.jobs.model_copy(update={"verify_kill": 0.5})}
    )
    grid.run_to_end()
    assert grid.counts() == {"cancelled": 1}
    grid.assert_sane()


def start_almighty(grid: Grid, log: IO[bytes] | None = None) -> "subprocess.Popen[bytes]":
    environment = os.environ | {
        "CIGRI_SET_DATABASE__URL": grid.database.url.replace("+psycopg", ""),
        "CIGRI_SET_ALMIGHTY__PERIOD": "0.2",
    }
    command = [sys.executable, "-m", "tests.faults.almighty"]
    return subprocess.Popen(command, env=environment, start_new_session=True, cwd=ROOT, stderr=log)


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def test_an_almighty_killed_again_and_again(grid: Grid) -> None:
    dice = random.Random(1)
    tasks = 40
    grid.submit([str(number) for number in range(tasks)], command="sleep 0.6")
    process = start_almighty(grid)
    try:
        for _ in range(4):
            time.sleep(dice.uniform(1.0, 4.0))  # the moment is the test's input, not a wait for a fact
            kill_group(process)
            process = start_almighty(grid)
        until(lambda: grid.one("SELECT count(*) FROM campaigns WHERE ended_at IS NULL") == 0, what=grid.describe)
    finally:
        kill_group(process)
    grid.assert_each_ran_once(tasks)


def test_a_record_that_comes_before_its_job_is_watched_waits_in_the_outbox(forker: Forker, local: Grid) -> None:
    """The runner dies after a submission; other jobs are collected before anybody knows of these."""
    local.submit(["x"], command="sleep 1000")
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    local.submit(["y"])
    for module in (updator, predictor, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    pass_that_dies(forker, local, "runner", "after")
    outbox = f"ls {local.site.config['directory']}/*/outbox"
    until(lambda: local.site.sh(outbox))
    there = local.site.sh(outbox)
    foreign = Path(local.site.config["directory"]) / local.one("SELECT key FROM grid") / "outbox" / f"{'9' * 40}-1"
    foreign.write_text("end of the world\n")
    for _ in range(3):
        updator.run_once(local.tools)
    assert local.site.sh(outbox) == there
    local.run_until(lambda: local.counts().get("done") == 1)
    assert local.one("SELECT count(*) FROM jobs WHERE missing_since IS NOT NULL") == 0
