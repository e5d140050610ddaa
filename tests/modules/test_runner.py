"""What the runner sends: one command per user and pass, in which each batch is refused or taken by itself."""

from pathlib import Path

import pytest

from cigri.drivers import BatchRequest
from cigri.drivers.local import LocalDriver
from cigri.errors import ArrayTooLarge
from cigri.flow.clusters import put_cluster
from cigri.flow.front_end_stress import FrontEndRate, put_front_end_pace
from cigri.shell.results import ShellResult
from modules import campaign_schedulers, metascheduler, runner, updator
from tests.grid import Grid


def prepare(local: Grid, campaigns: int, tasks: int = 3) -> list[int]:
    """Campaigns with a few jobs to launch each."""
    ids = [local.submit([str(number) for number in range(tasks)]) for _ in range(campaigns)]
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    return ids


def test_the_batches_of_many_campaigns_are_one_command(local: Grid) -> None:
    prepare(local, 5)
    before = local.gateway.commands.total()
    assert runner.run_once(local.tools)["submitted jobs"] == 15
    assert local.gateway.commands.total() - before == 1
    assert local.one("SELECT count(*) FROM batches WHERE state = 'submitted'") == 5
    local.run_to_end()
    assert local.counts() == {"done": 15}


def test_more_batches_than_a_command_takes_are_left_for_the_next_pass(local: Grid) -> None:
    prepare(local, runner.BATCHES_AT_ONCE + 1, tasks=1)
    assert runner.run_once(local.tools)["submitted jobs"] == runner.BATCHES_AT_ONCE
    assert runner.run_once(local.tools)["submitted jobs"] == 1
    local.run_to_end()


def test_what_a_driver_has_no_words_for_is_refused_before_it_is_sent(local: Grid) -> None:
    local.submit(["a", "b"], resources="/nodes=2", types="deploy")
    for module in (updator, metascheduler, campaign_schedulers):
        module.run_once(local.tools)
    before = local.gateway.commands.total()
    assert runner.run_once(local.tools)["submitted jobs"] == 0
    assert local.gateway.commands.total() == before
    [said] = local.rows("SELECT message FROM events WHERE code = 'SUBMISSION_REFUSED'")
    assert "/nodes=2" in said["message"]
    assert "deploy" in said["message"]


def test_a_batch_that_cannot_be_written_leaves_the_others_alone(local: Grid) -> None:
    first, second, third = prepare(local, 3)
    base = Path(local.site.config["directory"]) / local.one("SELECT key FROM grid")
    base.mkdir(parents=True)
    (base / f"c{second}").touch()  # where its directory should be
    report = runner.run_once(local.tools)
    assert (report["submitted jobs"], report["refused batches"]) == (6, 1)
    states = local.rows("SELECT campaign_id AS c, state::text FROM batches ORDER BY c")
    assert [(row["c"], row["state"]) for row in states] == [
        (first, "submitted"),
        (second, "void"),
        (third, "submitted"),
    ]
    assert local.one("SELECT count(*) FROM events WHERE code = 'SUBMISSION_REFUSED'") == 1


def test_an_array_that_is_too_large_is_sent_again_in_parts(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch system that takes arrays of two; nothing was refused, so nobody is to blame."""
    read = LocalDriver.parse_submit

    def parse_submit(driver: LocalDriver, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        if request.size > 2:
            raise ArrayTooLarge("too many", 2)
        return read(driver, answer, request)

    def submit(driver: LocalDriver, request: BatchRequest) -> str:
        return say(driver, request) if request.size <= 2 else "true"

    say = LocalDriver.submit
    monkeypatch.setattr(LocalDriver, "parse_submit", parse_submit)
    monkeypatch.setattr(LocalDriver, "submit", submit)
    prepare(local, 1, tasks=5)
    assert runner.run_once(local.tools)["batches too large"] == 1
    assert local.one("SELECT config['max_array'] FROM clusters") == 2
    assert local.one("SELECT message FROM events WHERE code = 'ARRAY_LIMIT'").startswith("max_array is now 2, ")
    local.run_to_end()
    local.assert_each_ran_once(5)
    assert local.one("SELECT max(size) FROM batches WHERE state <> 'void'") == 2
    assert local.one("SELECT count(*) FROM events WHERE code = 'SUBMISSION_REFUSED'") == 0
    assert local.one("SELECT sum(deaths + failures) FROM tasks") == 0


def test_a_cluster_under_stress_gets_fewer_and_smaller_batches(local: Grid) -> None:
    with local.database.begin() as conn:
        put_cluster(conn, local.site.name, local.site.config | {"max_array": 20, "max_waiting": 60})
    for _ in range(4):
        local.submit(["1", "2", "3", "4"], command="exec sleep 60")
    updator.run_once(local.tools)
    metascheduler.run_once(local.tools)
    campaign_schedulers.run_once(local.tools)
    with local.database.begin() as conn:
        put_front_end_pace(conn, 1, FrontEndRate(0.1, 0.1, "why"))
    assert runner.run_once(local.tools)["submitted jobs"] <= 4  # two batches of two
    assert local.one("SELECT max(size) FROM batches") == 2
    local.kill_all_jobs()
