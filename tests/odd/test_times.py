"""Completion, durations, urgency, fairness and speeds, with any figures: they answer, and never with nan."""

from datetime import datetime
from math import inf, isfinite

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cigri.estimates.completion import expected_seconds, longest_within
from cigri.estimates.durations import (
    LAST_BIN,
    WEIGHT,
    added,
    averaged,
    bin_of,
    counted,
    edge,
    longest,
    mean_beyond,
    quantile,
    scaled,
    with_running,
)
from cigri.estimates.fair_shares import fair_shares
from cigri.estimates.speeds import CompletedWork, known_speeds
from cigri.estimates.start_dates import LEAST_PRIORITY, MOST_NICE, StartDate, nice, priority
from tests.odd.figures import NOW, binned, counts, dates, floats, is_figure

good = st.floats(0, 1e7, allow_nan=False)


@given(floats, floats, floats)
def test_an_expected_end_is_a_figure(mean: float, delay: float, hazard: float) -> None:
    assert is_figure(expected_seconds(mean, delay, hazard))


@given(floats, floats, floats)
@example(inf, 0.0, 0.0)
def test_the_longest_that_ends_in_time_is_a_figure(seconds: float, delay: float, hazard: float) -> None:
    assert is_figure(longest_within(seconds, delay, hazard))


@given(good, good, good)
def test_there_is_time_for_everything_before_never(mean: float, delay: float, hazard: float) -> None:
    assert longest_within(inf, delay, hazard) >= mean
    assert longest_within(delay, delay, hazard) <= 0
    assert expected_seconds(mean, delay, hazard) >= mean


@given(floats, binned)
def test_any_duration_has_a_bin(seconds: float, counted_before: list[int]) -> None:
    assert 0 <= bin_of(seconds) <= LAST_BIN
    assert edge(bin_of(seconds)) >= 0
    beyond = mean_beyond(counted_before, seconds)
    assert beyond is None or is_figure(beyond)


@given(st.lists(floats, max_size=30), counts, floats)
def test_durations_are_counted_and_averaged(seconds: list[float], weight: int, average: float) -> None:
    assert sum(counted(seconds)) == len(seconds)
    after, mean = averaged(weight, average if isfinite(average) else 0.0, seconds)
    assert 0 <= after <= max(WEIGHT, weight)
    assert isfinite(mean)


@given(st.lists(binned, max_size=3), floats, st.lists(floats, max_size=9))
def test_counts_are_read(many: list[list[int]], share: float, running: list[float]) -> None:
    together = added(many)
    assert longest(together) >= 0
    found = quantile(together, share)
    assert (found is None) == (not sum(together))
    assert found is None or (is_figure(found) and found >= 0)
    expected = with_running(together, running)
    assert all(isfinite(count) and count >= 0 for count in expected)


@given(binned, floats)
def test_scaling_keeps_all_that_were_counted(some: list[int], factor: float) -> None:
    changed = scaled(some, factor)
    assert sum(changed) == pytest.approx(sum(some))
    assert len(changed) <= max(LAST_BIN + 1, len(some))


@given(dates, dates, dates, floats)
def test_batch_systems_are_told_a_number_that_they_take(
    date: datetime, now: datetime, origin: datetime, factor: float
) -> None:
    assert 0 <= nice(StartDate(date, now), origin, factor) <= MOST_NICE
    assert LEAST_PRIORITY <= priority(StartDate(date, now)) <= 0


def test_a_date_that_was_is_the_first() -> None:
    assert priority(StartDate(NOW, NOW)) == 0


names = st.sampled_from("abcd")


@given(floats, st.dictionaries(names, floats), st.dictionaries(names, floats))
@example(1e-320, {"c": 1e-9}, {"a": 0.0, "c": 60.0})
def test_no_share_is_more_than_there_is(total: float, wanted: dict[str, float], targets: dict[str, float]) -> None:
    shares = fair_shares(total, wanted, targets)
    assert shares.keys() == wanted.keys()
    assert all(is_figure(share) and share >= 0 for share in shares.values())
    assert sum(shares.values()) <= max(total, 0.0) * (1 + 1e-9) or total != total


works = st.builds(CompletedWork, counts, floats, counts, floats)


@given(st.dictionaries(st.integers(1, 3), works), st.dictionaries(st.integers(1, 3), st.floats(0.01, 100)))
def test_speeds_are_above_none(seen: dict[int, CompletedWork], before: dict[int, float]) -> None:
    assert all(0 < speed < inf for speed in known_speeds(seen, before).values())
