"""Which of the last tasks are begun a second time, and where; pure."""

from collections import Counter
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.estimates.clamping import LARGEST_TIME
from cigri.estimates.durations import counted
from cigri.flow.views.job_sizing import DurationStatistics
from cigri.flow.views.stragglers import Straggler
from modules.campaign_schedulers.finalize import replicate
from modules.campaign_schedulers.jobs.completion_model import CompletionModel

LASTED = [100.0] * 90 + [1000.0] * 10
"""Seconds of the tasks that have succeeded on a cluster of the usual speed."""


def a_ground(
    id: int = 1, *, speed: float = 1.0, done: int = 100, delay: float = 0.0, hazard: float = 0.0, width: int = 1
) -> DurationStatistics:
    lasted = [seconds / speed for seconds in LASTED][:done]
    return DurationStatistics(id, width, 10_000, len(lasted), sum(lasted), counted(lasted), delay, hazard)


def a_try(
    task: int = 1,
    cluster: int = 1,
    *,
    ran: float | None = 10.0,
    waited: float | None = 10.0,
    replica: bool = False,
    ahead: int = 0,
    away: bool = False,
) -> Straggler:
    return Straggler(task, 1, 1, cluster, replica, ran, waited, ahead, away)


def chosen(
    tries: list[Straggler],
    grounds: list[DurationStatistics],
    places: dict[int, int] | None = None,
    *,
    most: int = 1,
    budget: float = inf,
) -> list[tuple[int, int]]:
    free = {ground.cluster_id: 9 for ground in grounds} if places is None else places
    found = replicate(tries, CompletionModel(grounds), free, most, budget)
    return [(replica.task_id, replica.cluster_id) for replica in found]


def test_what_has_outlasted_most_lasts_as_long_as_those_that_did() -> None:
    outlook = CompletionModel([a_ground()])
    assert outlook.remaining(a_try(ran=0.0)) == pytest.approx(190.0, rel=0.1)
    assert outlook.remaining(a_try(ran=400.0)) == pytest.approx(600.0, rel=0.1)
    assert outlook.remaining(a_try(ran=5000.0)) == 5000.0


def test_a_slow_cluster_is_seen_in_the_means() -> None:
    outlook = CompletionModel([a_ground(), a_ground(2, speed=4.0)])
    assert outlook.remaining(a_try(ran=100.0)) == pytest.approx(4 * outlook.remaining(a_try(cluster=2, ran=25.0)), 0.05)


@pytest.mark.parametrize(
    ("tries", "grounds", "expected"),
    [
        ([a_try()], [a_ground(), a_ground(2)], []),
        ([a_try()], [a_ground(), a_ground(2, speed=4.0)], [(1, 2)]),
        ([a_try(cluster=2)], [a_ground(), a_ground(2, speed=4.0)], []),
        ([a_try(ran=400.0)], [a_ground(), a_ground(2, speed=4.0)], [(1, 2)]),
        ([a_try(ran=900.0)], [a_ground(), a_ground(2, speed=4.0)], []),
        ([a_try(ran=3000.0)], [a_ground(), a_ground(2)], [(1, 2)]),
        ([a_try(ran=None, waited=600.0)], [a_ground(), a_ground(2)], [(1, 2)]),
        ([a_try(ran=None, waited=600.0)], [a_ground(), a_ground(2, delay=900.0)], []),
        ([a_try(ran=None, waited=None)], [a_ground(delay=900.0), a_ground(2)], []),
        ([a_try(ran=0.0, ahead=5)], [a_ground(), a_ground(2)], [(1, 2)]),
        ([a_try(away=True)], [a_ground(), a_ground(2)], [(1, 2)]),
        ([a_try()], [a_ground(hazard=0.01), a_ground(2)], [(1, 2)]),
        ([a_try(ran=3000.0)], [a_ground(), a_ground(2, hazard=0.1)], []),
        ([a_try(ran=3000.0)], [a_ground(done=2), a_ground(2, done=0)], []),
    ],
    ids=[
        *("alike", "faster", "slower", "old", "nearly done", "hangs", "waits", "waits elsewhere, too", "not sent"),
        *("behind others", "away", "killed often", "killed often elsewhere", "nothing known"),
    ],
)
def test_a_task_is_replicated_where_it_is_expected_to_end_sooner(
    tries: list[Straggler], grounds: list[DurationStatistics], expected: list[tuple[int, int]]
) -> None:
    assert chosen(tries, grounds) == expected


def test_the_largest_gain_comes_first_and_on_the_best_cluster_while_it_has_places() -> None:
    grounds = [a_ground(), a_ground(2, speed=4.0), a_ground(3, speed=2.0)]
    tries = [a_try(1, ran=400.0), a_try(2, away=True), a_try(3, ran=None, waited=300.0)]
    assert chosen(tries, grounds, {2: 2, 3: 1}) == [(2, 2), (3, 2), (1, 3)]
    assert chosen(tries, grounds, {2: 2}) == [(2, 2), (3, 2)]


def test_what_gains_less_than_the_time_between_two_looks_gains_nothing() -> None:
    """The end would be seen no earlier."""
    grounds = [a_ground(), a_ground(2, speed=4.0)]
    [replica] = replicate([a_try(ran=400.0)], CompletionModel(grounds), {2: 1}, 1, inf)
    for factor, number in ((0.9, 1), (1.1, 0)):
        slow = [one._replace(cycle=factor * replica.gain) for one in grounds]
        assert len(chosen([a_try(ran=400.0)], slow)) == number


def test_no_task_has_more_attempts_than_wanted_nor_two_on_a_cluster() -> None:
    grounds = [a_ground(), a_ground(2, speed=4.0), a_ground(3, speed=4.0)]
    pair = [a_try(away=True), a_try(cluster=2, replica=True, ran=None, waited=9000.0)]
    assert chosen(pair, grounds) == []
    assert chosen(pair, grounds, most=2) == [(1, 3)]
    assert chosen(pair, grounds, {2: 9}, most=2) == []


def test_a_replica_costs_nothing_while_it_waits() -> None:
    free, busy = ([a_ground(), a_ground(2, speed=4.0, delay=delay)] for delay in (0.0, 70.0))
    for grounds in (free, busy):
        (replica,) = replicate([a_try(ran=3000.0)], CompletionModel(grounds), {2: 1}, 1, inf)
        assert replica.cost == pytest.approx(250.0, rel=0.1)  # the longest task, four times as fast


def test_replicas_that_run_have_their_part_of_the_budget() -> None:
    grounds = [a_ground(), a_ground(2, speed=4.0)]
    (cost,) = (replica.cost for replica in replicate([a_try()], CompletionModel(grounds), {2: 1}, 1, inf))
    running = [a_try(2), a_try(2, 2, ran=0.0, replica=True)]
    assert chosen([a_try(), *running], grounds, budget=1.99 * cost) == []
    assert chosen([a_try(), *running], grounds, budget=2.01 * cost) == [(1, 2)]
    alone = [a_try(2, 2, ran=0.0, replica=True)]
    assert chosen([a_try(), *alone], grounds, budget=1.01 * cost) == [(1, 2)]


tries = st.builds(
    Straggler,
    st.integers(1, 20),
    st.just(1),
    st.just(1),
    st.integers(1, 4),
    st.booleans(),
    st.none() | st.floats(0, 1e5),
    st.none() | st.floats(0, 1e5),
    st.integers(0, 3),
    st.booleans(),
)
grounds = st.builds(
    a_ground,
    speed=st.floats(0.2, 5),
    done=st.integers(0, 100),
    delay=st.floats(0, 1e4),
    hazard=st.floats(0, 0.01),
    width=st.integers(1, 8),
)


@given(
    st.lists(tries, max_size=30, unique_by=lambda one: (one.task_id, one.cluster_id)),
    st.tuples(grounds, grounds, grounds, grounds),
    st.dictionaries(st.integers(1, 4), st.integers(0, 5)),
    st.integers(1, 3),
    st.floats(0, 5000),
)
def test_never_more_than_the_budget_nor_than_the_places(
    tries: list[Straggler], several: tuple[DurationStatistics, ...], places: dict[int, int], most: int, budget: float
) -> None:
    there = [ground._replace(cluster_id=id) for id, ground in enumerate(several, start=1)]
    found = replicate(tries, CompletionModel(there), places, most, budget)
    assert sum(replica.cost for replica in found) <= budget * (1 + 1e-9)
    assert all(replica.gain > 0 and replica.cost >= 0 for replica in found)
    used = Counter(replica.cluster_id for replica in found)
    assert all(number <= places[cluster_id] for cluster_id, number in used.items())
    begun = Counter(replica.task_id for replica in found)
    live = Counter(one.task_id for one in tries)
    assert all(number == 1 and live[task_id] <= most for task_id, number in begun.items())
    held = {(one.task_id, one.cluster_id) for one in tries}
    assert not held & {(replica.task_id, replica.cluster_id) for replica in found}


def test_work_without_end_takes_seconds_that_can_be_reckoned_with() -> None:
    assert CompletionModel([a_ground()]).seconds(1, inf) == LARGEST_TIME
