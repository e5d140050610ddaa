"""How long tasks last, and when the last of many ends."""

from random import Random

import pytest

from cigri.estimates.durations import counted
from modules.predictor.eta.last_task import RunningTasks, TaskBag, last_end
from modules.predictor.lifetimes import TaskLifetimes

DEVIATION = 0.944  # of the logarithm of durations, whose own deviation is 1.2 of their mean


def unequal(number: int, seed: int = 1) -> list[float]:
    luck = Random(seed)
    return [luck.lognormvariate(5.77, DEVIATION) for _ in range(number)]


def test_the_mean_and_what_lasts_longer_are_those_of_the_durations() -> None:
    durations = unequal(2000)
    lifetimes = TaskLifetimes(counted(durations))
    assert lifetimes.mean == pytest.approx(sum(durations) / 2000, rel=0.03)
    for seconds in (100.0, 300.0, 1000.0):
        longer = sum(duration > seconds for duration in durations) / 2000
        assert lifetimes.outlasting(seconds) == pytest.approx(longer, abs=0.02)


def test_those_that_run_still_are_counted_too() -> None:
    """Of 400 begun together 190 have ended after 300 s: their mean alone is a third of that of all."""
    durations = unequal(400)
    ended = [duration for duration in durations if duration < 300]
    alone = TaskLifetimes(counted(ended)).mean
    both = TaskLifetimes(counted(ended), counted([299.0] * (400 - len(ended)))).mean
    true = sum(durations) / 400
    assert alone < 0.5 * true
    assert both == pytest.approx(true, rel=0.2)


def test_beyond_the_longest_seen_durations_go_on() -> None:
    """One of a thousand lasts longer than 5900 s, though of thirty none did."""
    few = TaskLifetimes(counted(unequal(30)))
    assert 0.0001 < few.outlasting(5900) < 0.02
    even = TaskLifetimes(counted([100.0] * 1000))
    assert even.outlasting(150) < 0.001


def test_nothing_lasts_longer_than_its_walltime() -> None:
    durations = counted(unequal(1000))
    assert TaskLifetimes(durations).outlasting(4500) > 0
    assert TaskLifetimes(durations, (), 3600).outlasting(4500) == 0


def test_a_task_whose_attempt_was_in_vain_begins_again() -> None:
    """Half of the attempts of 100 s: after one length a half is not done, after two a quarter."""
    lifetimes = TaskLifetimes(counted([100.0] * 10_000), again=0.5)
    assert [lifetimes.unfinished(seconds) for seconds in (150, 250, 350)] == pytest.approx([0.5, 0.25, 0.125], abs=0.02)
    assert lifetimes.beyond(0.0) == pytest.approx(
        1.875 * lifetimes.mean
    )  # the fourth attempt is thought to be the last
    assert lifetimes.with_again(0.0).unfinished(150) < 0.001


def bag(
    running: list[RunningTasks], starting: float = 0.0, replicas: float | None = None, again: float = 0.0
) -> TaskBag:
    return TaskBag(TaskLifetimes(counted(unequal(1000)), again=again), running, starting, replicas)


def test_the_last_end_is_that_of_the_longest() -> None:
    """Of 200 that start now, as they come: what half of 300 tries have exceeded."""
    tries = sorted(max(unequal(200, seed)) for seed in range(300))
    assert last_end(bag([RunningTasks(200, age=0.0)]), 0.5) == pytest.approx(tries[150], rel=0.2)
    assert last_end(bag([RunningTasks(200, age=0.0)]), 0.05) == pytest.approx(tries[15], rel=0.2)
    assert last_end(bag([RunningTasks(200, age=0.0)]), 0.95) == pytest.approx(tries[285], rel=0.3)


@pytest.mark.parametrize(
    ("sooner", "later"),
    [
        pytest.param(bag([RunningTasks(1, age=0.0)]), bag([RunningTasks(10, age=0.0)]), id="more tasks"),
        pytest.param(
            bag([RunningTasks(1, age=0.0)]), bag([RunningTasks(1, age=3000.0)]), id="one that has outlasted most"
        ),
        pytest.param(bag([RunningTasks(9, 2.0, 0.0)]), bag([RunningTasks(9, 1.0, 0.0)]), id="a slower cluster"),
        pytest.param(bag([RunningTasks(9)], 0.0), bag([RunningTasks(9)], 1000.0), id="others that are still to begin"),
        pytest.param(
            bag([RunningTasks(9, 0.5, 900.0)], replicas=2.0), bag([RunningTasks(9, 0.5, 900.0)]), id="no replicas"
        ),
        pytest.param(
            bag([RunningTasks(9, age=9.0)]), bag([RunningTasks(9, age=9.0)], again=0.3), id="attempts in vain"
        ),
    ],
)
def test_the_last_task_ends_later_with(sooner: TaskBag, later: TaskBag) -> None:
    for chance in (0.05, 0.5, 0.95):
        assert last_end(sooner, chance) < last_end(later, chance)


def test_the_surer_the_later() -> None:
    ends = [
        last_end(bag([RunningTasks(20), RunningTasks(5, 1.5, 700.0)], 500.0), chance) for chance in (0.05, 0.5, 0.95)
    ]
    assert ends == sorted(ends)
    assert ends[0] > 500.0
