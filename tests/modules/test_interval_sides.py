"""Each side of an interval by itself: exact values, and the part of true ends that lie beyond it."""

import math
from collections.abc import Callable
from random import Random

import pytest

from cigri.estimates.durations import counted
from cigri.flow.views.campaign_progress import CampaignProgress
from modules.predictor.campaign_work import build_work_model
from modules.predictor.eta.campaign_end import EndInterval, interval
from modules.predictor.eta.last_task import RunningTasks, TaskBag, last_end
from modules.predictor.lifetimes import TaskLifetimes
from modules.predictor.local_load import LocalLoadModel, done
from tests.modules.test_predictor import progress

WIDER = 1.2
QUIET = LocalLoadModel(1.0, 1e-9)
MANY = progress(running=100, remaining=1_000_000)._replace(done=10**8, durations=[0] * 20 + [10**8])
"""So much is known that nothing but the pace, and what others do, may come otherwise."""
LUCK = Random(5)
LAST_TEN = progress(durations=tuple(LUCK.lognormvariate(4.0, 0.6) for _ in range(20_000)), running=10, remaining=10)
"""They have just begun, and nothing is behind them."""


def told(part: CampaignProgress, begun: float, outlook: LocalLoadModel) -> EndInterval:
    """All that runs has just begun."""
    found = build_work_model([part], {1: counted([0.0] * part.running)}, outlook.returns)
    assert found is not None
    return interval(found, begun, outlook)


def test_the_pace_deviates_by_fifteen_percent_to_either_side() -> None:
    """1.645 deviations are beyond with a probability of 5 % each."""
    found = told(MANY._replace(average=3.5), 1e6, QUIET)
    factor = math.exp(1.645 * 0.15)
    assert found.expected == pytest.approx(1e6, rel=1e-3)
    assert found.high - found.expected == pytest.approx(WIDER * 1e6 * (factor - 1), rel=0.01)
    assert found.expected - found.low == pytest.approx(WIDER * 1e6 * (1 - 1 / factor), rel=0.01)


def test_others_come_and_go_with_five_percent_beyond_each_side() -> None:
    """The pace as above, and the ends of which the chances are 5 and 95 %, each by itself."""
    outlook, begun, factor = LocalLoadModel(0.5, 1e-6), 1e6, math.exp(1.645 * 0.15)
    found = told(MANY._replace(average=3.5), begun, outlook)
    middle = found.expected
    late = middle + math.sqrt(((found.high - middle) / WIDER) ** 2 - (middle * (factor - 1)) ** 2)
    soon = middle - math.sqrt(((middle - found.low) / WIDER) ** 2 - (middle * (1 - 1 / factor)) ** 2)
    assert done(begun, outlook, late) == pytest.approx(0.95, abs=0.01)
    assert done(begun, outlook, soon) == pytest.approx(0.05, abs=0.02)


def test_the_last_tasks_end_with_five_percent_beyond_each_side() -> None:
    """Ten that have just begun, nothing behind them: the end is that of the longest."""
    found, known = told(LAST_TEN, 0.0, QUIET), build_work_model([LAST_TEN], {})
    assert known is not None
    last, early = (found.expected + (side - found.expected) / WIDER for side in (found.high, found.low))
    bag = TaskBag(known.lifetimes.with_again(0.0), [RunningTasks(10, 1.0, 0.0)], 0.0)
    assert last_end(bag, 0.95) == pytest.approx(last, rel=0.05)
    assert last_end(bag, 0.05) == pytest.approx(early, rel=0.05)


@pytest.mark.parametrize(("chance", "tasks"), [(0.05, 1), (0.5, 10), (0.95, 10), (0.95, 200)])
def test_the_longest_of_many_is_as_long_as_chance_has_it(chance: float, tasks: int) -> None:
    """Against a draw: the part of ends that come no later."""
    luck = Random(11)

    def duration() -> float:
        return luck.lognormvariate(4.0, 0.6)

    lifetimes = TaskLifetimes(counted(duration() for _ in range(20_000)))
    end = last_end(TaskBag(lifetimes, [RunningTasks(tasks, 1.0, 0.0)], 0.0), chance)
    in_time = sum(max(duration() for _ in range(tasks)) <= end for _ in range(1500)) / 1500
    assert in_time == pytest.approx(chance, abs=0.05)


def ends_of_pace(luck: Random) -> float:
    return 1e6 * math.exp(luck.gauss(0.0, 0.15))


def ends_of_the_longest(luck: Random) -> float:
    return max(luck.lognormvariate(4.0, 0.6) for _ in range(10))


@pytest.mark.parametrize(
    ("end", "part", "begun"),
    [
        pytest.param(ends_of_pace, MANY._replace(average=3.5), 1e6, id="pace"),
        pytest.param(
            ends_of_the_longest,
            LAST_TEN,
            0.0,
            id="last tasks",
        ),
    ],
)
def test_true_ends_lie_beyond_neither_side_too_often(
    end: Callable[[Random], float], part: CampaignProgress, begun: float
) -> None:
    """A side that was narrowed lets through twice as many as it may; both together would hide it."""
    found, luck = told(part, begun, QUIET), Random(17)
    ends = [end(luck) for _ in range(2000)]
    assert sum(one > found.high for one in ends) <= 0.06 * len(ends)
    assert sum(one < found.low for one in ends) <= 0.06 * len(ends)
