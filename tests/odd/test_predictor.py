"""Every pure function of the predictor, with any figures: it answers, and what is stored of it the database takes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.flow.forecasts import NewForecast
from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.flow.views.cluster_service import ClusterServiceCounts
from cigri.settings.algorithms import names
from cigri.settings.cluster_config import ClusterConfig, visit_interval
from modules.predictor import EndFactors, forecast
from modules.predictor.algorithm_inputs import build_algorithm_inputs, measure
from modules.predictor.algorithms import MOST_JOBS, AlgorithmInputs, Prediction, load
from modules.predictor.campaign_estimates import deviation, estimate, longest, mean, throughput, together
from modules.predictor.campaign_work import build_work_model
from modules.predictor.clamped_inputs import plausible_progress
from modules.predictor.eta.campaign_end import interval
from modules.predictor.eta.published_dates import pressure, published_end
from modules.predictor.freed_cores import FreedCores
from modules.predictor.lifetimes import TaskLifetimes
from modules.predictor.local_load import LocalLoadModel, SharedCluster, outlook, reached
from modules.predictor.sharing import RunningCampaign, in_line, side_by_side
from tests.odd.figures import (
    NOW,
    binned,
    counts,
    dates,
    floats,
    is_figure,
    maybe,
    plausible,
    quickly,
    sums,
    wholes,
    widths,
)

signed = st.floats(-1e10, 1e10)  # JSON has neither inf nor nan
memories = st.fixed_dictionaries(
    {},
    optional={name: plausible for name in ("waiting", "due", "expected", "started", "rate", "closed")}
    | {"sum": signed},
)
flows = st.builds(
    AlgorithmInputs,
    width=widths,
    running=counts,
    waiting=counts,
    submitted=counts,
    ratio=maybe(plausible),
    free_before=st.one_of(st.none(), wholes),
    total=counts,
    free=wholes,
    keep_waiting=counts,
    max_waiting=st.one_of(st.integers(1, 1000), st.just(2**31 - 1)),
    cycle=plausible,
    visit_interval=plausible,
    sending=plausible,
    mean=maybe(plausible),
    deviation=maybe(plausible),
    walltime=plausible,
    start_rate=maybe(plausible),
    queue_delay=maybe(plausible),
    arrivals=plausible,
    releases=plausible,
    hazard=plausible,
    ending=maybe(plausible),
    ending_deviation=plausible,
    others=wholes,
    largest_load_change=counts,
    load_change_square_sum=plausible,
    net_load_change=plausible,
    observed_seconds=plausible,
    memory=memories,
)
parts = st.builds(
    CampaignProgress,
    campaign_id=st.integers(1, 3),
    cluster_id=st.integers(1, 3),
    width=widths,
    done=counts,
    seconds=floats,
    squares=floats,
    window_tasks=counts,
    window_seconds=floats,
    running=counts,
    waiting=counts,
    remaining=counts,
    durations=binned,
    walltime=floats,
    guess=maybe(floats),
    average=maybe(floats),
    known=counts,
    expected=floats,
    longest=maybe(floats),
    speed=maybe(floats),
    done_known=counts,
    done_expected=floats,
    doubted=counts,
    again=counts,
    replicates=st.booleans(),
    alike=st.integers(1, 1000),
)
progress = st.lists(parts, max_size=6, unique_by=lambda part: (part.campaign_id, part.cluster_id))
paces = st.builds(
    ClusterServiceCounts,
    st.integers(1, 3),
    st.just(ClusterConfig(driver="local")),
    counts,
    wholes,
    st.one_of(st.none(), dates),
    maybe(floats),
    maybe(floats),
    maybe(floats),
    counts,
    floats,
    floats,
    floats,
    floats,
    wholes,
    counts,
    floats,
    floats,
    floats,
    looked_at=st.one_of(st.none(), dates),
    sending=maybe(floats),
)
outlooks = st.builds(LocalLoadModel, st.floats(0, 1), st.floats(1e-6, 1e10), sums)


def is_storable(one: NewForecast) -> bool:
    """As the constraints of the table have it, and no nan for others to reckon with."""
    floats = (one.ratio, one.throughput, one.mean, one.deviation, one.median, one.p95, one.pressure)
    is_interval = one.eta is None or (one.eta_low is not None and one.eta_high is not None)
    return (
        0 < one.ratio <= MOST_JOBS
        and not any(isnan(value) for value in floats if value is not None)
        and all(jobs is None or 0 <= jobs < 2**63 for jobs in (one.keep, one.send))
        and is_interval
        and (one.eta is None or one.eta_low <= one.eta <= one.eta_high)  # type: ignore[operator]
        and (one.pressure is None or one.pressure >= 0)
        and all(isfinite(value) for value in one.memory.values())
    )


@pytest.mark.parametrize("name", names())
@quickly
@given(flow=flows)
def test_an_algorithm_predicts_what_can_be_stored(name: str, flow: AlgorithmInputs) -> None:
    found = load(name)(flow)
    assert 0 < found.ratio <= MOST_JOBS
    assert all(jobs is None or 0 <= jobs <= 2**31 for jobs in (found.keep, found.send))
    assert all(isfinite(value) for value in found.memory.values())


@quickly
@given(progress, st.dictionaries(st.integers(1, 3), paces), floats, floats, st.sampled_from(("fifo", "fairshare")))
def test_whatever_was_measured_is_forecast(
    progress: list[CampaignProgress],
    paces: Mapping[int, ClusterServiceCounts],
    cores: float,
    variance: float,
    order: str,
) -> None:
    services = {cluster_id: measure(pace, NOW) for cluster_id, pace in paces.items()}
    endings = {cluster_id: FreedCores(cores, variance) for cluster_id in services}
    seen = [build_algorithm_inputs(part, services.get(part.cluster_id), endings) for part in progress]
    predictions = [load("lean")(one) for one in seen]
    ages = {part.campaign_id: {part.cluster_id: [1, 0, 3]} for part in progress}
    found = forecast(progress, predictions, seen, NOW, EndFactors(order, {1: NOW}, ages))
    assert len(found) == len(progress) + len({part.campaign_id for part in progress})
    assert all(is_storable(one) for one in found)


@quickly
@given(st.lists(parts.map(plausible_progress), min_size=1, max_size=3), counts, floats)
def test_estimates_are_figures(some: list[CampaignProgress], tasks: int, chance: float) -> None:
    whole = together(some)
    found = [throughput(whole), mean(whole), estimate(whole), deviation(whole), pressure(whole)]
    assert all(is_figure(value) for value in found if value is not None)
    assert longest(whole, tasks, min(1.0, max(0.0, chance))) >= 0


@quickly
@given(st.one_of(st.none(), dates), st.one_of(st.none(), dates), dates)
def test_a_date_that_is_told_is_one_of_those_known(
    before: datetime | None, eta: datetime | None, now: datetime
) -> None:
    assert published_end(before, eta, now) in (before, eta)


@quickly
@given(binned.filter(any), binned, floats, floats, plausible)
def test_lifetimes_are_parts_of_tasks(
    ended: list[int], running: list[int], longest: float, again: float, seconds: float
) -> None:
    lifetimes = TaskLifetimes(ended, running, longest, min(0.9, max(0.0, again)))
    assert lifetimes.mean >= 0
    assert isfinite(lifetimes.mean)
    assert 0 <= lifetimes.outlasting(seconds) <= 1
    assert 0 <= lifetimes.unfinished(seconds) <= 1
    assert lifetimes.beyond(seconds) >= 0


@quickly
@given(st.lists(parts.map(plausible_progress), min_size=1, max_size=3), plausible, plausible, outlooks)
def test_an_interval_holds_its_end(
    some: list[CampaignProgress], returns: float, begun: float, others: LocalLoadModel
) -> None:
    some = [part._replace(campaign_id=1) for part in some]
    found = build_work_model(some, {}, returns, {1: 2.0})
    if found is not None:
        low, expected, high = interval(found, begun, others)
        assert 0 <= low <= expected <= high


@quickly
@given(
    st.lists(st.builds(SharedCluster, counts, wholes, sums, plausible, plausible), max_size=3),
    plausible,
    st.floats(0, 1),
)
def test_others_leave_a_share(places: Sequence[SharedCluster], work: float, chance: float) -> None:
    found = outlook(places)
    assert 0 <= found.share <= 1
    assert found.jumps > 0
    assert is_figure(reached(work, found, chance))


@quickly
@given(st.lists(st.builds(RunningCampaign, st.integers(1, 5), sums, plausible), unique_by=lambda one: one.campaign_id))
def test_whoever_runs_ends_some_time(runners: list[RunningCampaign]) -> None:
    for ends in (in_line(runners), side_by_side(runners)):
        assert ends.keys() <= {one.campaign_id for one in runners}
        assert all(is_figure(seconds) and seconds >= 0 for seconds in ends.values())


@quickly
@given(st.one_of(plausible, st.sampled_from((5e-324, 1e-320))), st.sampled_from((0.0, 0.1, 5.0, 3600.0)))
def test_visits_are_as_far_apart_as_they_have_to_be(cycle: float, poll_interval: float) -> None:
    seconds = visit_interval(cycle, poll_interval)
    assert isfinite(seconds)
    assert seconds >= poll_interval * (1 - 1e-9)


def test_nothing_is_forecast_of_nothing() -> None:
    assert forecast([], [], [], NOW) == []
    assert outlook([]) == LocalLoadModel()
    assert in_line([]) == side_by_side([]) == {}
    assert Prediction(1.0).keep is None
