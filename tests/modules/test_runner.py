"""What the runner sends: one command per user and pass, in which each batch is refused or taken by itself."""

from pathlib import Path

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
