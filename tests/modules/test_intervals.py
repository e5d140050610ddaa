"""The end of a campaign, and the interval that holds it with a probability of 90 %."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from heapq import heappop, heappush
from math import inf
from random import Random

import pytest

from cigri.estimates.calibration import IntervalOutcome, calibration
from cigri.estimates.durations import counted
from cigri.flow.views.campaign_progress import CampaignProgress
from modules.predictor import EndFactors, forecast
from modules.predictor.algorithm_inputs import build_algorithm_inputs
from modules.predictor.algorithms import Prediction
from modules.predictor.campaign_work import CampaignWorkModel, build_work_model
from modules.predictor.eta.campaign_end import EndInterval, interval
from modules.predictor.local_load import LocalLoadModel
from tests.modules.test_predictor import NOW, progress

QUIET = LocalLoadModel(1.0, 1e-9)
STEADY = progress(durations=(100.0,) * 360, window=3600, running=10, remaining=210)
UNEVEN = STEADY._replace(durations=counted([20.0, 180.0] * 180))


def stands(
    part: CampaignProgress, ages: Mapping[int, Sequence[int]] | None = None, returns: float = 0.0
) -> CampaignWorkModel:
    found = build_work_model([part], ages or {}, returns)
    assert found is not None
    return found


def told(
    part: CampaignProgress, outlook: LocalLoadModel = QUIET, ages: Mapping[int, Sequence[int]] | None = None
) -> EndInterval:
    found = stands(part, ages, outlook.returns)
    return interval(found, found.work / found.cores, outlook)


def width(found: EndInterval) -> float:
    assert found.low <= found.expected <= found.high
    return (found.high - found.low) / found.expected


def test_the_end_by_the_average_method_at_the_start() -> None:
    """16 tasks have not begun, on 4 cores at 100 s each: 400 s, and the last one's 100."""
    new = progress(remaining=20, running=4)._replace(guess=100.0)
    assert stands(new).work / stands(new).cores == pytest.approx(16 * 100 / 4, rel=0.15)
    assert told(new).expected == pytest.approx(500, rel=0.3)


def test_the_end_by_the_throughput_method_after() -> None:
    """200 tasks have not begun, at 360 an hour; so many run as that needs."""
    assert stands(STEADY).work / stands(STEADY).cores == pytest.approx(2000, rel=0.02)
    assert told(STEADY).expected == pytest.approx(2100, rel=0.05)


def test_a_campaign_that_has_just_begun_is_about_to_have_the_free_cores() -> None:
    """Ten scouts run, on ten of a hundred cores: not 49 durations, but five."""
    new = progress(remaining=500, running=10)._replace(guess=100.0)
    seen = build_algorithm_inputs(new, None, {})._replace(total=100, free=90)
    (found,) = [one for one in forecast([new], [Prediction(1.0)], [seen], NOW) if one.cluster_id is None]
    assert found.eta is not None
    assert (found.eta - NOW).total_seconds() == pytest.approx(600, rel=0.2)


def test_free_cores_that_it_did_not_take_are_not_counted_on() -> None:
    old = progress(durations=(100.0,) * 720, window=3600, running=10, remaining=210)._replace(window_tasks=360)
    seen = build_algorithm_inputs(old, None, {})._replace(total=100, free=90)
    (found,) = [one for one in forecast([old], [Prediction(1.0)], [seen], NOW) if one.cluster_id is None]
    assert found.eta is not None
    assert (found.eta - NOW).total_seconds() == pytest.approx(2100, rel=0.05)


def test_the_throughput_is_trusted_the_more_the_longer_a_campaign_has_been_at_its_pace() -> None:
    """It ran next to nothing at first, and half as many tasks as now in the time since."""
    young = progress(durations=(100.0,) * 20, window=400, running=10, remaining=210)
    elder = progress(durations=(100.0,) * 100, window=2000, running=10, remaining=210)
    short = progress(durations=(100.0,) * 9, window=180, running=10, remaining=210)
    assert stands(short).cores == 10
    assert 10 > stands(young).cores > stands(elder).cores > 5


def test_the_cores_of_now_count_for_more_than_those_of_the_last_hour() -> None:
    """Twice as many run as the throughput needed; where others come and go it is not believed."""
    more = STEADY._replace(running=20, remaining=220)
    assert 1000 < stands(more).work / stands(more).cores < 1400
    unsteady = stands(more, returns=2.0)
    assert 1500 < unsteady.work / unsteady.cores < 2000


def test_of_short_tasks_the_throughput_counts() -> None:
    short = progress(durations=(1.0,) * 3600, window=3600, running=0, remaining=3600)
    assert told(short).expected == pytest.approx(3600, rel=0.05)


def test_an_attempt_in_vain_costs_time() -> None:
    killed = STEADY._replace(window_tasks=0, again=360)
    assert stands(killed).work == pytest.approx(1.5 * stands(STEADY._replace(window_tasks=0)).work, rel=0.03)
    assert told(killed).high > 1.5 * told(STEADY).high


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        pytest.param(STEADY, progress(durations=(100.0,) * 5, window=50, running=10, remaining=210), id="few seen"),
        pytest.param(STEADY._replace(remaining=11), UNEVEN._replace(remaining=11), id="uneven durations"),
        pytest.param(UNEVEN, UNEVEN._replace(remaining=11, running=1), id="few left"),
        pytest.param(STEADY, STEADY._replace(doubted=100), id="doubts"),
    ],
)
def test_the_less_is_known_the_wider_the_interval(narrow: CampaignProgress, wide: CampaignProgress) -> None:
    assert width(told(wide)) > 1.2 * width(told(narrow))


@pytest.mark.parametrize(
    "outlook",
    [
        pytest.param(LocalLoadModel(0.1), id="few cores: more may come"),
        pytest.param(LocalLoadModel(1.0), id="all cores: some may go"),
        pytest.param(LocalLoadModel(0.6, returns=3.0), id="others that come and go"),
    ],
)
def test_other_people_widen_the_interval(outlook: LocalLoadModel) -> None:
    far = STEADY._replace(remaining=1000)
    assert width(told(far, outlook)) > 1.2 * width(told(far))
    assert width(told(STEADY._replace(remaining=40), outlook)) < width(told(far, outlook))


def test_where_others_came_and_went_within_the_hour_they_may_again() -> None:
    """However near the end is; more than one such jump makes it no wider."""
    soon = STEADY._replace(remaining=60)
    calm, restless, stormy = (told(soon, QUIET._replace(returns=returns)) for returns in (0.0, 1.0, 50.0))
    assert width(restless) > 1.4 * width(calm)
    assert width(stormy) == pytest.approx(width(restless), rel=0.2)


def test_how_long_the_last_ones_run_already_is_taken_into_account() -> None:
    """Of tasks that nearly all last 100 s, one that has run for 900 s is not expected to end in 50."""
    last = progress(durations=(100.0,) * 360 + (1000.0,) * 4, window=3600, running=1, remaining=1)
    young, old = told(last, ages={1: counted([50.0])}), told(last, ages={1: counted([700.0])})
    assert young.expected < 70
    assert old.expected > 150


def test_where_the_longest_went_first_what_remains_is_short() -> None:
    """40 tasks of 10 s have not begun, on 10 cores; what has ended, or runs, lasts 100 s and more."""
    part = progress(durations=(100.0,) * 30, window=300, running=10, remaining=50)
    ages = {1: counted([120.0] * 10)}
    known = told(part._replace(known=50, expected=500.0), ages=ages)
    assert known.expected == pytest.approx(40 * 10 / 10 + 10, rel=0.35)
    assert known.high < told(part, ages=ages).expected / 4
    assert told(part._replace(known=5, expected=50.0), ages=ages).expected > 4 * known.high


def test_the_last_tasks_are_cut_short_where_they_may_be_begun_twice() -> None:
    parts = [
        progress(1, durations=(50.0,) * 100, window=3600, running=1, remaining=2),
        progress(2, durations=(400.0,) * 100, window=3600, running=1, remaining=2),
    ]
    twice = [part._replace(replicates=True) for part in parts]
    (alone, shared) = (build_work_model(some, {}) for some in (parts, twice))
    assert alone is not None
    assert shared is not None
    assert interval(shared, 0.0, QUIET).high < interval(alone, 0.0, QUIET).high


@pytest.mark.parametrize(("order", "elder"), [("fifo", 800), ("fairshare", 1000)])
def test_whoever_ends_leaves_its_cores_to_others(order: str, elder: float) -> None:
    """Five cores each, for 500 and 300 tasks of 10 s: the younger one ends after 600 s, and all are done after 800."""
    part = progress(durations=(10.0,) * 360, running=5, remaining=505)
    parts = [part._replace(campaign_id=1), part._replace(campaign_id=2, remaining=305)]
    flows = [build_algorithm_inputs(one, None, {}) for one in parts]
    found = forecast(parts, [Prediction(1.0)] * 2, flows, NOW, EndFactors(order))
    ends = {one.campaign_id: (one.eta - NOW).total_seconds() for one in found if one.eta is not None}
    assert ends == pytest.approx({1: 800, 2: 600}, rel=0.1)


def test_who_waits_in_line_is_told_when_it_will_be_its_turn() -> None:
    """One core while nine are the elder's, which ends after 500 s; then all ten, for the 50 s that are left."""
    part = progress(durations=(10.0,) * 360, remaining=459, running=9)
    parts = [part._replace(campaign_id=1), part._replace(campaign_id=2, remaining=101, running=1)]
    flows = [build_algorithm_inputs(one, None, {}) for one in parts]
    ends = {}
    for order in ("fifo", "fairshare"):
        found = forecast(parts, [Prediction(1.0)] * 2, flows, NOW, EndFactors(order))
        ends[order] = [(one.eta - NOW).total_seconds() for one in found if one.eta is not None]
    assert ends["fifo"] == pytest.approx([500, 550], rel=0.1)


def test_only_who_stands_in_line_gains_first() -> None:
    """A third, last in line, has as many cores as the second: only side by side it gains from the end of the first."""
    part = progress(durations=(10.0,) * 360, remaining=108, running=8)
    parts = [part._replace(campaign_id=1)]
    parts += [part._replace(campaign_id=id, remaining=301, running=1) for id in (2, 3)]
    flows = [build_algorithm_inputs(one, None, {}) for one in parts]
    ends = {}
    for order in ("fifo", "fairshare"):
        found = forecast(parts, [Prediction(1.0)] * 3, flows, NOW, EndFactors(order))
        ends[order] = {one.campaign_id: (one.eta - NOW).total_seconds() for one in found if one.eta is not None}
    assert ends["fifo"][2] < 0.8 * ends["fifo"][3]
    assert ends["fairshare"][2] == ends["fairshare"][3]


def test_kills_come_together() -> None:
    """The early end is reckoned with none, the late one with more than there were."""
    last = STEADY._replace(remaining=10, running=10)
    calm, harried = told(last), told(last._replace(again=90))
    assert harried.low <= calm.low + 10
    assert calm.high < 120
    assert harried.high > 350  # with as many as so far it would be 322


@pytest.mark.parametrize("deviation", [0.25, 1.0])
def test_intervals_of_steady_campaigns_hold_their_true_ends(deviation: float) -> None:
    """Durations are drawn from one distribution; each interval is told when a part is done."""
    luck, held = Random(7), []
    for _ in range(200):
        durations = [luck.lognormvariate(3.0, deviation) for _ in range(80)]
        free_at, runs = [0.0] * 4, list[tuple[float, float]]()
        for duration in durations:
            start = heappop(free_at)
            heappush(free_at, start + duration)
            runs.append((start, start + duration))
        end = max(free_at)
        seen = end * luck.uniform(0.2, 0.95)
        done = tuple(last - first for first, last in runs if last <= seen)
        ages = counted([seen - first for first, last in runs if first <= seen < last])
        if not done:
            continue
        part = progress(durations=done, window=seen, running=sum(ages), remaining=80 - len(done))
        found = told(part, ages={1: ages})
        held.append(
            IntervalOutcome(*(NOW + timedelta(seconds=seconds) for seconds in (found.low, found.high, end - seen)))
        )
    share = calibration(held)
    assert share is not None
    assert share >= 0.88


def test_an_end_of_which_nothing_is_sure_has_an_interval_all_the_same() -> None:
    found = stands(STEADY)
    found.lifetimes.spread = 1e9
    low, expected, high = interval(found, 100.0, QUIET)
    assert 0 <= low <= expected <= high < inf
