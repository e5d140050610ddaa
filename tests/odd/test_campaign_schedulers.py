"""Every pure function that makes jobs of tasks, with any figures: it answers, and offers are kept to."""

from collections import Counter
from collections.abc import Sequence
from math import isfinite

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cigri.flow.offers import ClaimedOffer
from cigri.flow.tasks import Backlog, WaitingTask
from cigri.flow.views.job_sizing import DurationStatistics, JobSizingStatistics, LiveJobTotals
from cigri.flow.views.stragglers import Straggler
from cigri.states import CampaignType
from modules.campaign_schedulers import JobSlots, assign, load, names
from modules.campaign_schedulers.finalize import replicate
from modules.campaign_schedulers.jobs.completion_model import CompletionModel
from modules.campaign_schedulers.jobs.grouping import JobSize, OfferedJobCounts, size, start_rate
from modules.campaign_schedulers.jobs.longest_first import OfferedJobs, allot_longest_first
from tests.odd.figures import binned, counts, floats, is_figure, maybe, plausible, quickly, widths

ids = st.integers(1, 3)
few = st.integers(1, 5)
walltimes = st.one_of(st.integers(1, 100_000), st.just(2**31 - 1))
paces = st.builds(
    JobSizingStatistics,
    campaign_id=st.just(1),
    cluster_id=ids,
    is_temporal=st.booleans(),
    side_by_side=st.integers(0, 64),
    done=counts,
    duration_sum=floats,
    duration_square_sum=floats,
    live=counts,
    starts=st.lists(floats, max_size=20),
    deaths=counts,
    job_seconds=floats,
    waiting=counts,
    under_way=floats,
    carried=counts,
    cycle=floats,
)
rooms = st.builds(OfferedJobCounts, st.integers(1, 1000), st.integers(1, 2000), st.integers(1, 9000), walltimes, counts)
grounds = st.lists(
    st.builds(
        DurationStatistics,
        cluster_id=ids,
        width=widths,
        walltime=walltimes,
        done=counts,
        duration_sum=floats,
        durations=binned,
        delay=floats,
        hazard=floats,
        speed=maybe(floats),
        known=counts,
        expected=floats,
        cycle=floats,
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda ground: ground.cluster_id,
)
crews = st.builds(LiveJobTotals, counts, floats, counts, counts)
backlogs = st.builds(Backlog, st.integers(1, 2**40), st.integers(1, 2**40), floats, floats)
tries = st.builds(
    Straggler,
    task_id=st.integers(1, 5),
    bucket_id=st.just(1),
    attempts=few,
    cluster_id=ids,
    is_replica=st.booleans(),
    run_seconds=maybe(floats),
    wait_seconds=maybe(floats),
    tasks_ahead=st.integers(0, 5),
    is_cluster_unreachable=st.booleans(),
    expected=maybe(floats),
)


@quickly
@given(paces, rooms, st.sampled_from((0.0, 30.0, 1e9)))
def test_a_job_has_a_size_whatever_was_measured(
    pace: JobSizingStatistics, room: OfferedJobCounts, target: float
) -> None:
    found = size(pace, room, target)
    assert 1 <= found.side <= max(1, min(pace.side_by_side, room.offered))
    assert found.side <= found.tasks < 2**63
    assert found.jobs is None or 0 <= found.jobs < 2**63


@quickly
@given(st.lists(plausible, max_size=30))
def test_a_rate_of_starts_is_a_number(starts: list[float]) -> None:
    rate = start_rate(starts)
    assert rate is None or (rate > 0 and isfinite(rate))


@quickly
@given(grounds, st.lists(tries, max_size=6), floats, maybe(floats))
def test_an_outlook_has_figures(
    grounds: list[DurationStatistics], live: list[Straggler], seconds: float, expected: float | None
) -> None:
    there = {ground.cluster_id for ground in grounds}
    live = [one for one in live if one.cluster_id in there]
    outlook = CompletionModel(grounds, live)
    for id in there:
        work = outlook.work(id, seconds, expected)
        found = [work, outlook.speed(id), outlook.seconds(id, work), outlook.completion(id, work)]
        assert [one for one in found if not (is_figure(one) and one >= 0)] == []
        assert is_figure(outlook.longest_within(id, seconds))
    assert all(is_figure(outlook.remaining(one)) for one in live)
    assert is_figure(outlook.used)


@quickly
@given(grounds, st.data(), backlogs)
def test_portions_keep_to_what_is_offered(
    grounds: list[DurationStatistics], data: st.DataObject, backlog: Backlog
) -> None:
    there = sorted(ground.cluster_id for ground in grounds)
    offers = st.builds(OfferedJobs, st.integers(0, 50), st.integers(0, 9)).map(
        lambda one: one._replace(at_once=min(one.jobs, one.at_once))
    )
    offered = {id: data.draw(offers) for id in there}
    found = allot_longest_first(CompletionModel(grounds), {id: data.draw(crews) for id in there}, backlog, offered)
    sent = Counter[int]()
    for portion in found:
        sent[portion.cluster_id] += portion.jobs
        assert portion.jobs > 0
        assert is_figure(portion.longest)
    assert sent == +Counter({id: one.jobs for id, one in offered.items()})


@quickly
@given(grounds, st.lists(tries, max_size=8), st.dictionaries(ids, st.integers(0, 5)), few, floats)
def test_replicas_stay_within_their_budget(
    grounds: list[DurationStatistics], live: list[Straggler], places: dict[int, int], most: int, budget: float
) -> None:
    there = {ground.cluster_id for ground in grounds}
    live = [one for one in live if one.cluster_id in there]
    places = {id: jobs for id, jobs in places.items() if id in there}
    found = replicate(live, CompletionModel(grounds, live), places, most, budget)
    assert sum(one.cost for one in found) <= max(0.0, budget) * (1 + 1e-9)
    assert all(number <= places[id] for id, number in Counter(one.cluster_id for one in found).items())
    assert len({one.task_id for one in found}) == len(found)


@quickly
@given(
    st.lists(st.builds(WaitingTask, st.integers(), few, counts, st.integers(), counts, st.one_of(st.none(), ids)),
             max_size=30, unique_by=lambda task: task.id),
    st.lists(st.builds(ClaimedOffer, st.just(1), ids, st.integers(1, 9), widths, walltimes, st.sampled_from(names()),
                       st.just(CampaignType.DEFAULT), st.one_of(st.none(), counts)),
             min_size=1, max_size=3, unique_by=lambda offer: offer.cluster_id),
    st.builds(JobSize, few, st.just(1)),
)  # fmt: skip
def test_no_task_goes_twice(tasks: Sequence[WaitingTask], offers: list[ClaimedOffer], most: JobSize) -> None:
    by_cluster = {offer.cluster_id: offer for offer in offers}
    jobs = assign(tasks, by_cluster, dict.fromkeys(by_cluster, most))
    sent = [task.id for job in jobs for task in job.tasks]
    assert len(sent) == len(set(sent))
    made = Counter(job.cluster_id for job in jobs)
    assert all(number <= by_cluster[id].jobs for id, number in made.items())


@pytest.mark.parametrize("name", names())
@quickly
@given(counts, st.lists(st.builds(JobSlots, ids, st.integers(1, 9), few, st.one_of(st.none(), counts)), max_size=3))
@example(0, [])
def test_a_scheduler_chooses_among_any_places(name: str, waiting: int, places: list[JobSlots]) -> None:
    chosen = list(load(name)(waiting, places))
    assert sum(len(one.tasks) for one in chosen) <= waiting
