"""Quantiles from counts in bins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.durations import LAST, added, bin_of, counted, quantile

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
    assert bin_of(3e9) == LAST


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
