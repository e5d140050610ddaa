"""Derived figures on cases that were reckoned by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modules.laboratory.evaluation.metrics import (
    EndForecast,
    ForecastCampaign,
    LocalJobDelay,
    LocalJobStart,
    ServiceInterval,
    TaskTimes,
    bounded_slowdown,
    expectation,
    fairness,
    jain,
    latencies,
    local_delay,
    slowdowns,
)
from modules.laboratory.evaluation.results import CampaignTestLatencies, ForecastQuality, UserResults


@pytest.mark.parametrize(
    ("submitted", "ended", "seconds", "expected"),
    [
        (0, 100, 100, 1.0),  # no wait
        (50, 350, 100, 3.0),  # waited twice its run
        (0, 100, 1, 10.0),  # a short run counts as 10 s
        (0, 5, 1, 1.0),  # never below 1
        (0, 40, 0, 4.0),
    ],
)
def test_bounded_slowdown(submitted: float, ended: float, seconds: float, expected: float) -> None:
    assert bounded_slowdown(TaskTimes("alice", submitted, ended, seconds)) == expected


def test_slowdowns_are_the_mean_of_each_user() -> None:
    tasks = [TaskTimes("bob", 0, 20, 20), TaskTimes("alice", 0, 40, 20), TaskTimes("bob", 0, 80, 20)]
    assert slowdowns(iter(tasks)) == (UserResults("alice", 1, 2.0), UserResults("bob", 2, 2.5))


def test_jain() -> None:
    assert jain([3, 3, 3]) == pytest.approx(1)
    assert jain([1, 0, 0, 0]) == pytest.approx(0.25)
    assert jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert jain([]) is None
    assert jain([0, 0]) is None


@given(st.lists(st.floats(0, 1e200), min_size=1, max_size=8))
def test_jain_is_between_one_nth_and_one(values: list[float]) -> None:
    index = jain(values)
    assert index is None or 1 / len(values) - 1e-9 <= index <= 1 + 1e-9


def test_one_who_wants_little_and_gets_it_is_no_unfairness() -> None:
    fair = ServiceInterval({"giant": 90, "small": 10}, {"giant": 1000, "small": 10})
    unfair = ServiceInterval({"giant": 100, "small": 0}, {"giant": 1000, "small": 50})
    assert fairness([fair], {}) == pytest.approx(1)
    assert fairness([unfair], {}) == pytest.approx(0.5)
    assert fairness([fair, unfair, unfair], {}) == pytest.approx(2 / 3)
    assert fairness([ServiceInterval({}, {"small": 10})], {}) is None


def test_fairness_is_measured_against_targets() -> None:
    service = ServiceInterval({"a": 60, "b": 30}, {"a": 1000, "b": 1000})
    assert fairness([service], {"a": 2}) == pytest.approx(1)
    assert fairness([service], {}) == pytest.approx(90**2 / (2 * (60**2 + 30**2)))


def test_delay_of_local_jobs() -> None:
    jobs = [
        LocalJobStart(100, without=10, started=13),
        LocalJobStart(300, without=50, started=50),
        LocalJobStart(100, without=90, started=80),  # earlier: makes up for nothing
        LocalJobStart(500, without=950, started=None),  # not started at the end, 1000
        LocalJobStart(500, without=None, started=None),  # it would not have started anyway
    ]
    assert local_delay(jobs, end=1000) == LocalJobDelay(4, 1000, 53)


def test_latencies() -> None:
    assert latencies([]) is None
    assert latencies([7]) == CampaignTestLatencies(1, 7, 7, 7)
    assert latencies([float(second) for second in range(11)]) == CampaignTestLatencies(11, 5, 9, 10)


def test_error_of_the_end_over_the_life_of_campaigns() -> None:
    first = ForecastCampaign(0, 1000, [EndForecast(100, 1500, 900, 2000), EndForecast(920, 1000, 990, 1010)])
    second = ForecastCampaign(1000, 1200, [EndForecast(1021, 1220, 1190, 1199)])
    found = expectation([first, second], end=5000)
    # at a tenth of their lives: |1500 - 1000| / 1000 and |1220 - 1200| / 200, the mean is 0.3; later only one
    assert [point.at for point in found.errors] == [0.1, 0.9]
    assert [point.value for point in found.errors] == pytest.approx([0.3, 0])
    assert found.campaigns == 2


def test_calibration_counts_each_campaign_once() -> None:
    often = ForecastCampaign(0, 1000, [EndForecast(at, 900, 800, 1100) for at in range(100, 900, 100)])
    half = ForecastCampaign(0, 1000, [EndForecast(100, 900, 800, 950), EndForecast(200, 900, 800, 1000)])
    assert expectation([often, half], end=5000).calibration == pytest.approx(0.75)


def test_the_width_of_intervals_is_told_beside_the_time_truly_left() -> None:
    """Medians of 2 (of 1, 2 and 4 times what was left) and 0.5; a campaign without an end has none."""
    wide = [EndForecast(500, 900, 800, 1300), EndForecast(800, 900, 800, 1200), EndForecast(900, 950, 900, 1300)]
    narrow = [EndForecast(0, 900, 600, 1100), EndForecast(1000, 1000, 1000, 1000)]
    unseen = ForecastCampaign(0, None, [EndForecast(0, 900, 0, 4000)])
    found = expectation([ForecastCampaign(0, 1000, wide), ForecastCampaign(0, 1000, narrow), unseen], end=3000)
    assert found.width == pytest.approx((2 + 0.5) / 2)
    assert expectation([unseen], end=3000).width is None


def test_an_end_that_was_not_seen_counts_against_intervals_that_are_over() -> None:
    over = EndForecast(100, 300, 200, 400)
    open_still = EndForecast(100, 900, 500, 1500)
    assert expectation([ForecastCampaign(0, None, [over, open_still])], end=1000) == ForecastQuality(0, (), 0.0)
    assert expectation([ForecastCampaign(0, None, [open_still])], end=1000).calibration is None
