"""Quantiles from counts in bins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.estimates.durations import (
    LAST_BIN,
    added,
    bin_of,
    counted,
    longest,
    mean_beyond,
    quantile,
    scaled,
    with_running,
)

durations = st.floats(0.2, 1e6)


def test_each_bin_is_a_quarter_of_a_doubling() -> None:
    assert [bin_of(seconds) for seconds in (0.0, 0.12, 0.125, 0.148, 0.149, 0.25, 0.5, 1024)] == [
        0,
        0,
        1,
        1,
        2,
        5,
        9,
        53,
    ]


@pytest.mark.parametrize("strange", [-1.0, float("nan")])
def test_what_is_no_duration_is_the_shortest(strange: float) -> None:
    assert bin_of(strange) == 0


def test_a_century_is_in_the_last_bin() -> None:
    assert bin_of(3e9) == LAST_BIN


@given(st.lists(durations, min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_at_most_a_bin_off(many: list[float], share: float) -> None:
    """One of the two durations between which the share lies, when it lies between two."""
    found = quantile(counted(many), share)
    assert found is not None
    near = [one for one in many if one / 1.2 <= found <= one * 1.2]
    assert near
    assert sum(one <= max(near) for one in many) >= share * len(many) * (1 - 1e-9)


@given(st.lists(st.lists(durations)))
def test_counts_of_parts_are_those_of_the_whole(parts: list[list[float]]) -> None:
    assert added(map(counted, parts)) == counted([seconds for part in parts for seconds in part])


def test_nothing_has_no_quantile() -> None:
    assert quantile([], 0.5) is None
    assert quantile([0, 0], 0.5) is None


def test_the_median_moves() -> None:
    assert quantile(counted([10.0] * 5), 0.5) == pytest.approx(10, rel=0.19)
    assert quantile(counted([10.0] * 5 + [1000.0] * 6), 0.5) == pytest.approx(1000, rel=0.19)


def test_a_quantile_between_two_durations_is_the_shorter_one() -> None:
    assert quantile(counted([10.0] * 5 + [1000.0] * 5), 0.5) == pytest.approx(10, rel=0.19)


@given(st.lists(durations, min_size=1), durations)
def test_the_mean_of_what_lasts_longer(lasted: list[float], seconds: float) -> None:
    counts = counted(lasted)
    later = [one for one in lasted if bin_of(one) > bin_of(seconds)]
    found = mean_beyond(counts, seconds)
    if later and len(later) == len([one for one in lasted if bin_of(one) >= bin_of(seconds)]):
        assert found == pytest.approx(sum(later) / len(later), rel=0.1)
    if found is None:
        assert seconds >= longest(counts)
    else:
        assert seconds <= found <= longest(counts)


@pytest.mark.parametrize("factor", [0.25, 1.0, 8.0])
def test_durations_on_a_machine_of_another_speed(factor: float) -> None:
    assert scaled(counted([100.0, 400.0]), factor) == counted([100.0 * factor, 400.0 * factor])


def test_what_is_too_short_on_another_machine_is_the_shortest() -> None:
    assert scaled(counted([0.2, 0.3, 10.0]), 2.0**-5) == counted([0.01, 0.01, 10.0 / 32])
    assert scaled([], 2.0) == scaled([], 0.5) == []


def test_those_that_run_are_expected_to_last_as_those_that_lasted_as_long() -> None:
    counts = counted([100.0] * 8 + [1000.0] * 2)
    assert with_running(counts, []) == pytest.approx(counts)
    found = with_running(counts, [10.0] * 5)
    assert found[bin_of(100.0)] == pytest.approx(8 * 1.5)
    assert found[bin_of(1000.0)] == pytest.approx(2 * 1.5)
    found = with_running(counts, [400.0] * 2)
    assert (found[bin_of(100.0)], found[bin_of(1000.0)]) == pytest.approx((8.0, 4.0))


def test_those_that_outlast_all_are_expected_to_last_twice_as_long() -> None:
    found = with_running(counted([100.0] * 3), [1000.0])
    assert sum(found) == pytest.approx(4.0)
    assert found[bin_of(2000.0)] == pytest.approx(1.0)
