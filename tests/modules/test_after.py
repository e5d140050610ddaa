"""Chains and diamonds of campaigns run on a real cluster of this host, each stage after what it waits for."""

from pathlib import Path

import pytest

from cigri.flow.dependencies import NewDependency
from cigri.states import AfterWhen
from tests.grid import Grid


def order(grid: Grid) -> list[str]:
    """What ran, in the order in which it began."""
    return (Path(grid.place) / "order").read_text().split()


def done(grid: Grid, campaign_id: int) -> int:
    number: int = grid.one("SELECT count(*) FROM tasks WHERE campaign_id = :id AND state = 'done'", id=campaign_id)
    return number


def stage(grid: Grid, name: str, tasks: int, *after: NewDependency, ends: str = "") -> int:
    """A campaign whose tasks write its name down."""
    params = [str(number) for number in range(tasks)]
    return grid.submit(params, f"echo {name} >>{grid.place}/order; {ends}", waits_for=after)


def test_a_diamond_runs_in_its_order(local: Grid) -> None:
    top = stage(local, "top", 3)
    left = stage(local, "left", 2, NewDependency(top))
    right = stage(local, "right", 2, NewDependency(top))
    stage(local, "bottom", 2, NewDependency(left), NewDependency(right))
    local.run_to_end(120)
    ran = order(local)
    assert ran[:3] == ["top"] * 3
    assert sorted(ran[3:7]) == ["left"] * 2 + ["right"] * 2
    assert ran[7:] == ["bottom"] * 2
    local.assert_sane()


def test_a_chain_goes_on_task_by_task_where_numbers_wait_for_numbers(local: Grid) -> None:
    first = stage(local, "first", 3, ends='test "$CIGRI_TASK_NUMBER" != 1')
    second = stage(local, "second", 3, NewDependency(first, is_same=True))
    local.run_until(lambda: done(local, second) == 2)
    blocked = local.rows(f"SELECT number FROM tasks WHERE campaign_id = {second} AND state = 'blocked'")
    assert [row["number"] for row in blocked] == [1]
    assert local.one("SELECT count(*) FROM events WHERE code = 'AFTER_FAILED' AND closed_at IS NULL") == 1
    local.assert_sane()


def test_what_cleans_up_runs_whatever_became_of_the_work(local: Grid) -> None:
    work = stage(local, "work", 2, ends="exit 3")
    clean = stage(local, "clean", 1, NewDependency(work, condition=AfterWhen.END))
    local.run_until(lambda: done(local, clean) == 1)
    assert order(local)[-1] == "clean"


@pytest.mark.noon
def test_its_forecast_end_is_that_of_what_it_waits_for_and_its_own_time(local: Grid) -> None:
    first = stage(local, "first", 4, ends="exec sleep 100")
    second = local.submit(["1", "2"], duration=60, waits_for=[NewDependency(first)])
    local.run_until(lambda: local.one("SELECT count(*) FROM jobs WHERE state = 'running'") > 0)
    local.one(f"UPDATE campaign_clusters SET done = 1, seconds = 100, squares = 10000, durations = '{{}}' "
              f"WHERE campaign_id = {first} RETURNING 1")  # fmt: skip
    local.cycle()
    told = local.rows(
        "SELECT campaign_id AS id, extract(epoch FROM eta)::float8 AS ends, pressure FROM forecasts "
        "WHERE cluster_id IS NULL ORDER BY campaign_id"
    )
    assert [row["id"] for row in told] == [first, second]
    required, waiting = told
    assert waiting["ends"] - required["ends"] >= 60
    assert required["pressure"] >= waiting["pressure"] + 60
    local.kill_all_jobs()
