"""Forecasts from hand-made progress."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from random import Random

import pytest

from cigri.calibration import Told, calibration
from cigri.durations import counted
from cigri.flow.anyone_to_predictor import Progress
from cigri.flow.predictor_to_metascheduler import NewForecast
from modules.predictor import forecast
from modules.predictor.algorithms import Prediction
from modules.predictor.estimates import deviation, interval, remaining_seconds, throughput, together
from modules.predictor.flows import flow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def progress(
    cluster: int = 1,
    *,
    durations: tuple[float, ...] = (),
    window: float = 0,
    running: int = 0,
    remaining: int = 0,
    width: int = 1,
    minutes: tuple[int, ...] = (),
) -> Progress:
    """All that was done was done in the window, `minutes` so many tasks each; else evenly."""
    total, squares = sum(durations), sum(duration**2 for duration in durations)
    done = len(durations)
    even = done**2 * 60.0 / window if window else 0.0
    per_minute = float(sum(tasks**2 for tasks in minutes)) if minutes else even
    bins = counted(durations)
    return Progress(1, cluster, width, done, total, squares, done, window, running, 0, remaining, per_minute, bins)


def forecasts(parts: list[Progress]) -> list[NewForecast]:
    flows = [flow(part, None, {}) for part in parts]
    return forecast(parts, [Prediction(1.0 / part.width) for part in parts], flows, NOW)


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
    first, second, whole = forecasts(parts)
    assert (first.cluster_id, first.mean, first.ratio) == (1, 100.0, 1.0)
    assert (second.cluster_id, second.mean, second.ratio) == (2, 50.0, 0.25)
    assert (whole.cluster_id, whole.mean) == (None, 75.0)
    assert whole.throughput == pytest.approx(60)
    assert whole.eta is not None
    longer = 27.2  # the longest of the last four, above the average, in their bins
    assert (whole.eta - NOW).total_seconds() == pytest.approx(58 * 60 + longer, abs=0.1)


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


def test_an_interval_of_nothing_is_not_told() -> None:
    assert interval(progress(remaining=10, running=2), None) is None
    assert interval(progress(durations=(1.0,)), 1.0) == (0.0, 0.0, 0.0)


def breadth(part: Progress) -> float:
    found = interval(part, throughput(part))
    assert found is not None
    return found.high / found.low


def test_the_more_is_known_the_narrower_the_interval() -> None:
    few = progress(durations=(10.0,) * 3, window=10, running=2, remaining=1000)
    more = progress(durations=(10.0,) * 30, window=10, running=2, remaining=1000)
    steady = progress(durations=(10.0,) * 600, window=3600, running=2, remaining=600)
    assert breadth(few) > breadth(more) > breadth(steady)


def test_an_uneven_throughput_widens_the_interval() -> None:
    """Ten minutes: twelve tasks each, or all in two of them."""
    even = progress(durations=(10.0,) * 120, window=600, running=2, remaining=120, minutes=(12,) * 10)
    uneven = progress(durations=(10.0,) * 120, window=600, running=2, remaining=120, minutes=(60, 60))
    assert breadth(uneven) > 1.5 * breadth(even)


def test_uneven_durations_widen_the_interval() -> None:
    even = progress(durations=(50.0,) * 10, window=60, running=4, remaining=20)
    uneven = progress(durations=(5.0, 95.0) * 5, window=60, running=4, remaining=20)
    assert breadth(uneven) > 1.2 * breadth(even)


def test_few_tasks_left_are_less_sure_than_many() -> None:
    """Of durations that are well known, but uneven."""
    many = progress(durations=(5.0, 95.0) * 500, window=60, running=4, remaining=1000)
    few = many._replace(remaining=4)
    found, wide = interval(many, None), interval(few, None)
    assert found is not None
    assert wide is not None
    assert wide.low / wide.expected < 0.5 < found.low / found.expected


def test_the_end_is_that_of_the_longest_of_the_last_tasks() -> None:
    """Of forty side by side one lasts 900 s, nearly surely; of one alone hardly."""
    uneven = progress(durations=(100.0,) * 180 + (900.0,) * 20, window=3600, running=40, remaining=400)
    wide, lone = interval(uneven, 200.0), interval(uneven._replace(running=1), 200.0)
    assert wide is not None
    assert lone is not None
    assert wide.expected - lone.expected == pytest.approx(465, abs=0.1)  # within the bin of 900 s, less the average
    last = interval(uneven._replace(running=1, remaining=1), 200.0)
    assert last == pytest.approx((0.0, 90.0, 1145.6), abs=0.1)


def test_a_killed_task_may_begin_again_at_the_end() -> None:
    part = progress(durations=(100.0,) * 100, window=3600, running=10, remaining=100)
    calm, harried = interval(part, 100.0), interval(part, 100.0, hazard=1 / 1000)
    assert calm is not None
    assert harried is not None
    assert harried[:2] == calm[:2]
    assert harried.high - calm.high == pytest.approx(106.7, abs=0.1)  # once more, in its bin


def test_what_lies_far_ahead_is_less_sure() -> None:
    near = progress(durations=(10.0,) * 3600, window=3600, running=10, remaining=3600)
    assert breadth(near._replace(remaining=36000)) > breadth(near)


def test_clusters_together_vary_less_than_each() -> None:
    parts = [progress(cluster, durations=(10.0,) * 120, window=600, minutes=(60, 60)) for cluster in range(1, 5)]
    parts = [part._replace(remaining=1000, running=5) for part in parts]
    assert breadth(together(parts)) < breadth(parts[0])


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_intervals_of_steady_campaigns_hold_their_true_ends(rate: float) -> None:
    """Durations are drawn from one distribution; each interval is told when a part is done."""
    random, told = Random(7), []
    for _ in range(200):
        durations = tuple(random.lognormvariate(3.0, rate / 2) for _ in range(80))
        free_at = [0.0] * 4
        ends = []
        for duration in durations:
            start = heappop(free_at)
            heappush(free_at, start + duration)
            ends.append((start + duration, duration))
        now, share = max(free_at), 0.5
        seen = now * share
        done = tuple(duration for end, duration in ends if end <= seen)
        minutes = Counter(int(end // 60) for end, _ in ends if end <= seen)
        part = progress(durations=done, window=seen, running=4, remaining=80 - len(done))
        part = part._replace(window_squares=float(sum(n * n for n in minutes.values())))
        found = interval(part, throughput(part))
        assert found is not None
        told.append(Told(*(NOW + timedelta(seconds=seconds) for seconds in (found.low, found.high, now - seen))))
    share_held = calibration(told)
    assert share_held is not None
    assert share_held >= 0.88


def test_calibration_is_the_share_of_ends_that_were_told() -> None:
    hour = timedelta(hours=1)
    assert calibration([]) is None
    told = [Told(NOW, NOW + hour, NOW + hour * part) for part in (0, 0.5, 1, 2)]
    assert calibration([*told, Told(NOW + hour, NOW + hour, NOW)]) == 0.6
