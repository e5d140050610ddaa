"""Forecasts from hand-made progress."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.estimates.calibration import IntervalOutcome, calibration
from cigri.estimates.durations import counted, quantile
from cigri.flow.forecasts import NewForecast
from cigri.flow.views.campaign_progress import CampaignProgress
from modules.predictor import forecast
from modules.predictor.algorithm_inputs import build_algorithm_inputs
from modules.predictor.algorithms import Prediction
from modules.predictor.campaign_estimates import deviation, share_within, throughput
from modules.predictor.campaign_work import build_work_model

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def progress(
    cluster: int = 1,
    *,
    durations: tuple[float, ...] = (),
    window: float = 0,
    running: int = 0,
    remaining: int = 0,
    width: int = 1,
) -> CampaignProgress:
    """All that was done was done in the window."""
    total, squares = sum(durations), sum(duration**2 for duration in durations)
    done = len(durations)
    bins = counted(durations)
    return CampaignProgress(1, cluster, width, done, total, squares, done, window, running, 0, remaining, bins)


def forecasts(parts: list[CampaignProgress]) -> list[NewForecast]:
    flows = [build_algorithm_inputs(part, None, {}) for part in parts]
    return forecast(parts, [Prediction(1.0 / part.width) for part in parts], flows, NOW)


def test_nothing_is_known_before_the_first_success() -> None:
    part = progress(remaining=10, running=2)
    assert throughput(part) is None
    assert deviation(part) is None
    assert build_work_model([part], {}) is None


def test_throughput_is_in_tasks_per_hour() -> None:
    assert throughput(progress(durations=(1.0,) * 20, window=600)) == pytest.approx(120)


def test_tasks_shorter_than_a_cycle_do_not_make_the_rate_infinite() -> None:
    assert throughput(progress(durations=(0.01,) * 5, window=0)) == pytest.approx(5 * 3600)


def test_the_deviation_is_that_of_the_sample() -> None:
    assert deviation(progress(durations=(2.0, 4.0, 9.0))) == pytest.approx(3.6055512)


@pytest.mark.parametrize(
    ("durations", "median", "most"),
    [((20.0,) * 24, 20.0, 20.0), ((0.01, 0.02), 0.02, 0.02), ((0.01,), 0.01, 0.01), ((), None, None)],
)
def test_few_tasks_and_such_as_last_equally_long_are_told_as_they_were(
    durations: tuple[float, ...], median: float | None, most: float | None
) -> None:
    (_, whole) = forecasts([progress(durations=durations)])
    assert whole.median == (None if median is None else pytest.approx(median, rel=1e-4))
    assert whole.p95 == (None if most is None else pytest.approx(most, rel=1e-4))


@given(st.lists(st.floats(0.001, 1e6), min_size=1), st.floats(0.01, 0.99))
def test_mean_and_deviation_never_take_a_share_away_from_the_truth(many: list[float], share: float) -> None:
    part = progress(durations=tuple(many))
    read, told = quantile(part.durations, share), share_within(part, share)
    true = sorted(many)[math.ceil(share * len(many) - 1e-9) - 1]
    assert read is not None
    assert told is not None
    assert abs(told - true) <= abs(read - true) + 1e-4 * max(many)


def test_a_campaign_on_two_clusters_is_forecast_in_all_and_on_each() -> None:
    parts = [
        progress(1, durations=(100.0,) * 36, window=1800, running=2, remaining=60),
        progress(2, durations=(50.0,) * 72, window=1800, running=2, remaining=60, width=4),
    ]
    first, second, whole = forecasts(parts)
    assert (first.cluster_id, first.mean, first.ratio) == (1, 100.0, 1.0)
    assert (second.cluster_id, second.mean, second.ratio) == (2, 50.0, 0.25)
    assert whole.cluster_id is None
    assert whole.mean == pytest.approx(200 / 3)
    assert whole.throughput == pytest.approx(216)
    assert whole.eta is not None
    last = 56 / 216 * 3600 + 100  # the last task begins when 56 have ended; it may run where it takes 100 s
    assert (whole.eta - NOW).total_seconds() == pytest.approx(last, rel=0.1)


def test_quantiles_are_those_of_the_durations_and_move_with_them() -> None:
    quick = forecasts([progress(durations=(10.0,) * 90 + (100.0,) * 10)])[0]
    slow = forecasts([progress(durations=(10.0,) * 40 + (100.0,) * 60)])[0]
    assert quick.median == pytest.approx(10, rel=0.1)
    assert quick.p95 == pytest.approx(100, rel=0.1)
    assert slow.median == pytest.approx(100, rel=0.1)


def test_the_end_lies_in_its_interval() -> None:
    whole = forecasts([progress(durations=(100.0,) * 30, window=3600, running=2, remaining=60)])[-1]
    told = [NOW, whole.eta_low, whole.eta, whole.eta_high]
    assert told == sorted(time for time in told if time is not None)
    assert len(set(told)) == 4


def test_calibration_is_the_share_of_ends_that_were_told() -> None:
    hour = timedelta(hours=1)
    assert calibration([]) is None
    told = [IntervalOutcome(NOW, NOW + hour, NOW + hour * part) for part in (0, 0.5, 1, 2)]
    assert calibration([*told, IntervalOutcome(NOW + hour, NOW + hour, NOW)]) == 0.6
