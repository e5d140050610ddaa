"""Forecasts from hand-made progress."""

from datetime import UTC, datetime, timedelta

import pytest

from cigri.errors import ConfigError
from cigri.flow.updator_to_predictor import Progress
from modules.predictor import Flow, forecast, load
from modules.predictor.estimates import deviation, remaining_seconds, throughput

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def progress(
    cluster: int = 1,
    *,
    durations: tuple[float, ...] = (),
    window: float = 0,
    running: int = 0,
    remaining: int = 0,
    width: int = 1,
) -> Progress:
    total, squares = sum(durations), sum(duration**2 for duration in durations)
    done = len(durations)
    return Progress(1, cluster, width, done, total, squares, done, window, running, 0, remaining)


def test_nothing_is_known_before_the_first_success() -> None:
    part = progress(remaining=10, running=2)
    assert throughput(part) is None
    assert deviation(part) is None
    assert remaining_seconds(part, None) is None


def test_throughput_is_in_tasks_per_hour() -> None:
    assert throughput(progress(durations=(1.0,) * 20, window=600)) == pytest.approx(120)


def test_tasks_shorter_than_a_cycle_do_not_make_the_rate_infinite() -> None:
    assert throughput(progress(durations=(0.01,) * 5, window=0)) == pytest.approx(5 * 3600)


def test_the_deviation_is_that_of_the_sample() -> None:
    assert deviation(progress(durations=(2.0, 4.0, 9.0))) == pytest.approx(3.6055512)


def test_the_average_method_at_the_start() -> None:
    """10 tasks left, 4 of them half done on 4 slots at 100 s each: 8 x 100 / 4."""
    assert remaining_seconds(progress(durations=(100.0,), window=50, running=4, remaining=10), 999.0) == 200.0


def test_the_throughput_method_after_two_durations() -> None:
    """12 tasks left, 4 of them half done: 10 at 36 an hour."""
    part = progress(durations=(100.0,) * 2, window=200, running=4, remaining=12)
    assert remaining_seconds(part, 36.0) == 1000.0


def test_an_ended_campaign_needs_no_time() -> None:
    assert remaining_seconds(progress(durations=(1.0,)), None) == 0.0


def test_a_campaign_on_two_clusters_is_forecast_in_all_and_on_each() -> None:
    parts = [
        progress(1, durations=(100.0,) * 30, window=3600, running=2, remaining=60),
        progress(2, durations=(50.0,) * 30, window=3600, running=2, remaining=60, width=4),
    ]
    first, second, whole = forecast(parts, load("simple"), NOW)
    assert (first.cluster_id, first.mean, first.ratio) == (1, 100.0, 1.0)
    assert (second.cluster_id, second.mean, second.ratio) == (2, 50.0, 0.25)
    assert (whole.cluster_id, whole.mean) == (None, 75.0)
    assert whole.throughput == pytest.approx(60)
    assert whole.eta == NOW + timedelta(seconds=58 * 60)


def test_the_simple_ratio_is_one_job_per_width() -> None:
    assert load("simple")(Flow(width=8, running=3, waiting=99)) == 0.125


def test_an_unknown_algorithm_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="no algorithm 'magic'"):
        load("magic")
