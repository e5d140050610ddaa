"""How often tasks save their state: Daly's formula against the exact model, and where nobody is asked."""

from math import exp, expm1, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.estimates.checkpoint_interval import (
    SHORTEST_PERIOD,
    CheckpointCost,
    CheckpointInterval,
    best_interval,
    choose_rhythm,
)

LIVES = st.floats(1.0, 1e7)
SHARES = st.floats(1e-9, 10.0)  # of a life, that a checkpoint takes
COSTS = st.builds(CheckpointCost, st.floats(0.0, 1e5), st.none() | st.floats(0.0, 1e6))
DAY = 86_400


def stretched(interval: float, life: float, cost: float) -> float:
    """How many times as long as undisturbed the work takes, if kills come at random (Daly, equation 20)."""
    return life * expm1((interval + cost) / life) / interval


def exact(life: float, cost: float) -> float:
    """Where the slope of that is 0, by halving: (1 - t / life) e^((t + cost) / life) = 1."""
    low, high = 0.0, life
    for _ in range(200):
        middle = (low + high) / 2
        is_below = (1 - middle / life) * exp((middle + cost) / life) > 1
        low, high = (middle, high) if is_below else (low, middle)
    return low


@given(LIVES, SHARES)
def test_nobody_does_much_better_than_the_formula(life: float, share: float) -> None:
    cost = life * share
    best = stretched(exact(life, cost), life, cost)
    assert stretched(best_interval(life, cost), life, cost) <= best * 1.02


@given(LIVES, st.floats(1e-9, 1.0))
def test_the_formula_is_near_what_is_exact(life: float, share: float) -> None:
    cost = life * share
    assert best_interval(life, cost) == pytest.approx(exact(life, cost), rel=0.05)


@given(LIVES, st.floats(1e-9, 1e-5))
def test_a_checkpoint_that_takes_next_to_nothing_comes_as_young_says(life: float, share: float) -> None:
    cost = life * share
    assert best_interval(life, cost) == pytest.approx(sqrt(2 * cost * life) - cost, rel=1e-3)


@given(LIVES, st.floats(2.0, 1e3))
def test_one_that_takes_longer_than_two_lives_comes_once_in_a_life(life: float, share: float) -> None:
    assert best_interval(life, life * share) == life


@given(LIVES, SHARES, st.floats(1.0, 100.0))
def test_the_more_it_takes_the_rarer_it_comes_and_at_least_once_in_a_life(
    life: float, share: float, times: float
) -> None:
    less, more = best_interval(life, life * share), best_interval(life, life * share * times)
    assert 0 < less <= more * (1 + 1e-9)
    assert more <= life * (1 + 1e-9)


@pytest.mark.parametrize("hazard", [0.0, -1.0, float("nan")])
def test_nobody_is_asked_where_nobody_is_killed(hazard: float) -> None:
    assert choose_rhythm(hazard, CheckpointCost(10.0), DAY) is None


def test_the_rhythm_is_from_signal_to_signal() -> None:
    """A job is killed after 4 h in the mean, saving takes 2 minutes: 29.7 minutes of work, and 2 of saving."""
    assert choose_rhythm(1 / 14_400, CheckpointCost(120.0), DAY) == CheckpointInterval(1900, 14_400.0, 120.0)


def test_one_that_would_come_no_sooner_than_before_the_walltime_is_left_out() -> None:
    assert choose_rhythm(1 / 14_400, CheckpointCost(120.0), 1900) is not None
    assert choose_rhythm(1 / 14_400, CheckpointCost(120.0), 1899) is None
    assert choose_rhythm(1e-300, CheckpointCost(120.0), DAY) is None


def test_who_ends_of_the_signal_loses_the_time_in_the_queue_and_stops_seldom() -> None:
    """The formula says 4 721 s, which is more than an eighth of the walltime, and less than one of 2 days."""
    away = CheckpointCost(120.0, 880.0)
    assert choose_rhythm(1 / 14_400, away, 20_000) == CheckpointInterval(4721, 14_400.0, 1000.0)
    assert choose_rhythm(1 / 14_400, away, 80_000) == CheckpointInterval(10_000, 14_400.0, 1000.0)
    assert choose_rhythm(1 / 14_400, away, 10 * DAY) == CheckpointInterval(14_400, 14_400.0, 1000.0)


def test_what_saves_at_once_is_not_asked_all_the_time() -> None:
    assert choose_rhythm(1 / 100, CheckpointCost(0.01), DAY) == CheckpointInterval(60, 100.0, 0.01)


@given(st.floats(0.0, allow_infinity=True), COSTS, st.integers(-DAY, 10 * DAY))
def test_a_rhythm_has_its_bounds(hazard: float, cost: CheckpointCost, last: int) -> None:
    rhythm = choose_rhythm(hazard, cost, last)
    assert rhythm is None or SHORTEST_PERIOD <= rhythm.period <= last
