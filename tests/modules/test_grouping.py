"""How many tasks travel in one job."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.flow.ceilings import Ceiling, Ceilings, fitting
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.forecasts import NewClusterRates, put_cluster_forecasts
from cigri.flow.live_jobs import mark_missing
from cigri.flow.offers import NewOffer, put_offers
from cigri.flow.views.job_sizing import JobSizingStatistics, list_job_sizing_statistics
from cigri.gateway.transport_gateway import TransportGateway
from cigri.jdl import ClusterSettings
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import Settings
from cigri.states import CeilingKind
from modules import campaign_schedulers
from modules.campaign_schedulers.jobs.grouping import (
    MOST_GROWTH,
    NOTICE,
    SHARE_OF_ROOM,
    TASK_START,
    JobSize,
    OfferedJobCounts,
    longest,
    size,
    start_rate,
)
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

TARGET = 60.0
ROOM = OfferedJobCounts(offered=36, here=36, everywhere=36, walltime=3600, carried=0, at_once=36)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def a_pace(
    mean: float = 0.01, rate: float = 20.0, done: int = 100_000, waiting: int = 10_000_000
) -> JobSizingStatistics:
    starts = [number / rate for number in range(100)]
    return JobSizingStatistics(
        1, 1, True, 1, done, done * mean, done * mean**2, 0, starts, 0, 0.0, waiting, 0.0, 0, 0.0
    )


paces = st.builds(
    JobSizingStatistics,
    st.just(1),
    st.just(1),
    st.booleans(),
    st.integers(0, 64),
    st.integers(0, 10_000),
    st.floats(0, 1e6),
    st.floats(0, 1e9),
    st.integers(0, 100),
    st.lists(st.floats(0, 1e4), max_size=30),
    st.integers(0, 30),
    st.floats(0, 1e5),
    st.integers(0, 10**7),
    st.floats(0, 1e6),
    st.integers(0, 10**6),
    st.floats(0, 1e4),
)
rooms = st.builds(
    OfferedJobCounts,
    st.integers(1, 1000),
    st.integers(1, 10_000),
    st.integers(1, 100_000),
    st.integers(1, 10**6),
    st.integers(0, 10**7),
)


@example(
    JobSizingStatistics(1, 1, True, 0, 2, 0.0, 0.0, 0, [0.0] * 5, 0, 0.0, 0, 0.0, 0, 0.0),
    OfferedJobCounts(1, 1, 1, 1, 0),
    5e-324,
)
@given(pace=paces, room=rooms, target=st.floats(0, 1e4))
def test_always_at_least_one_and_never_more_than_was_measured_or_fits_the_walltime(
    pace: JobSizingStatistics, room: OfferedJobCounts, target: float
) -> None:
    tasks, side, jobs = size(pace, room, target)
    assert 1 <= tasks <= max(1, MOST_GROWTH * pace.done)
    assert 1 <= side <= max(1, min(pace.side_by_side, room.offered))
    assert tasks % side == 0
    assert jobs is None or jobs >= 1
    assert tasks == side or longest(tasks // side, pace) <= room.walltime - NOTICE


@given(mean=st.floats(0.0, 100.0), rate=st.floats(0.5, 100.0), here=st.integers(1, 1000))
def test_a_job_lasts_the_target_or_what_the_batch_system_needs(mean: float, rate: float, here: int) -> None:
    pace, each = a_pace(mean, rate, done=10**8, waiting=10**10), mean + TASK_START
    needed = here / (SHARE_OF_ROOM * (start_rate(pace.starts) or 0.0))
    tasks = size(pace, OfferedJobCounts(here, here, here, 10**7, 0), TARGET).tasks
    assert tasks == 1 if each >= needed else tasks * each <= max(TARGET, needed) + 1e-6
    assert each >= needed or (tasks + 1) * each > max(TARGET, needed) - 1e-6


def test_tasks_that_the_batch_system_can_start_one_by_one_travel_alone() -> None:
    assert size(a_pace(mean=10.0), ROOM, TARGET).tasks == 1
    assert size(a_pace(mean=10.0, rate=2.0), ROOM, TARGET).tasks == 5


def test_nothing_is_grouped_before_it_is_measured() -> None:
    assert size(a_pace(done=0), ROOM, TARGET).tasks == 1
    assert size(a_pace()._replace(starts=[1.0, 2.0]), ROOM, TARGET).tasks == 1
    assert size(a_pace(done=36), ROOM, TARGET).tasks == 36 * MOST_GROWTH


def test_tasks_that_still_run_count_though_those_that_ended_first_were_short() -> None:
    """16 of 32 tasks took 10 ms; the others run since 6 s, and are no shorter than that."""
    pace = a_pace(done=16, waiting=2000)
    assert size(pace, ROOM, TARGET).tasks > 20
    assert size(pace._replace(under_way=16 * 6.0), ROOM, TARGET).tasks == 1
    assert longest(10, pace._replace(under_way=16 * 6.0)) == pytest.approx(longest(10, pace) + 60)


def test_tasks_alone_in_their_jobs_have_been_under_way_since_then_till_the_last_visit(database: Database) -> None:
    """Not those that have to wait, nor those that are gone, nor any in company, nor anyone's elsewhere."""
    with database.begin() as conn:
        cluster, other = a_cluster(conn), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 20, clusters=("dahu", "luke"))
        jobs = submitted_jobs(conn, campaign, cluster, 4)
        set_time(conn, later(10))
        run_jobs(conn, jobs[:3])
        set_time(conn, NOON)
        run_jobs(conn, submitted_jobs(conn, campaign, cluster, 1, tasks=2))
        run_jobs(conn, submitted_jobs(conn, campaign, other, 1))
        set_time(conn, later(20))
        mark_missing(conn, jobs[:1])
        set_time(conn, later(30))
        put_cluster_state(conn, cluster, Capacity(20, 16, 4, 0), 4)
        put_cluster_forecasts(conn, [NewClusterRates(cluster, 20.0, None, None, None, None, None)])
        paces = {pace.cluster_id: pace for pace in list_job_sizing_statistics(conn, [campaign])}
    assert {cluster_id: pace.under_way for cluster_id, pace in paces.items()} == {cluster: 40.0, other: 0.0}
    assert {cluster_id: pace.carried for cluster_id, pace in paces.items()} == {cluster: 6, other: 1}
    assert {cluster_id: pace.cycle for cluster_id, pace in paces.items()} == {cluster: 20.0, other: 0.0}


def test_opting_out_is_obeyed() -> None:
    assert size(a_pace()._replace(is_temporal=False), ROOM, TARGET).tasks == 1
    assert size(a_pace(), ROOM, 0.0).tasks == 1


def test_the_deviation_keeps_jobs_away_from_the_walltime() -> None:
    steady, hour = a_pace(mean=1.0, rate=0.5), OfferedJobCounts(500, 500, 500, 690, 0)
    assert size(steady, hour, TARGET).tasks == int(600 / (1.0 + TASK_START))
    wild = steady._replace(duration_square_sum=steady.done * 101.0)  # a deviation of 10 s
    assert size(wild, hour, TARGET).tasks < 200
    assert size(steady, hour._replace(walltime=90), TARGET).tasks == 1


def test_jobs_are_too_short_to_be_killed_often() -> None:
    assert size(a_pace()._replace(deaths=4, job_seconds=40.0), ROOM, TARGET).tasks == int(10 / (0.01 + TASK_START))


@pytest.mark.parametrize("waiting", [100, 1000, 5000, 100_000])
def test_at_the_end_no_core_idles_because_too_few_jobs_are_left(waiting: int) -> None:
    tasks = size(a_pace(mean=1.0, rate=5.0, waiting=waiting), ROOM, TARGET).tasks
    assert tasks <= max(waiting / (2 * ROOM.everywhere), (waiting / (1.0 * 5.0)) ** 0.5)


def test_a_few_tiny_tasks_are_not_spread_over_jobs_that_take_longer_to_start() -> None:
    """1,000 tasks of 10 ms at 3 jobs a second: 36 jobs would take 12 s to start, and 0.4 s to run."""
    tasks = size(a_pace(rate=3.0, waiting=1000), ROOM, TARGET).tasks
    jobs = 1000 / tasks
    assert jobs / 3 + tasks * (0.01 + TASK_START) < 5


def test_a_cluster_gets_its_share_of_the_tasks_at_once_and_no_more() -> None:
    """16 of 2,000 tasks of a few ms have ended: sized for the whole grid's, 32 jobs would take all that wait."""
    pace, room = a_pace(rate=5.0, done=16, waiting=1800)._replace(carried=100), ROOM._replace(everywhere=144)
    tasks, _, jobs = size(pace, room._replace(carried=200), TARGET)
    share = (1800 + 200) / 4 - 100
    assert tasks > 1800 / (2 * 144)
    assert jobs is not None
    assert share <= tasks * jobs < share + tasks
    assert size(pace._replace(carried=500), room._replace(carried=200), TARGET) == JobSize(1800 // (2 * 144))
    assert size(pace, ROOM._replace(carried=100), TARGET).jobs == -(-1800 // size(pace, ROOM, TARGET).tasks)


def test_a_cluster_gets_all_tasks_that_it_does_before_the_next_look() -> None:
    pace, room = a_pace(rate=5.0, waiting=2000), ROOM._replace(everywhere=144)
    seconds = 2000 * (0.01 + TASK_START) / ROOM.here
    tasks, _, jobs = size(pace._replace(cycle=1.01 * seconds), room, TARGET)
    assert jobs == -(-2000 // tasks)
    tasks, _, jobs = size(pace._replace(cycle=0.99 * seconds), room, TARGET)
    assert jobs == -(-500 // tasks)
    tasks, _, jobs = size(pace._replace(cycle=1.01 * seconds), room._replace(at_once=35), TARGET)
    assert jobs == -(-500 // tasks)  # jobs that wait do nothing before the next look


def test_a_cluster_that_is_looked_at_seldom_gets_no_more_than_its_share() -> None:
    """Else, where a cycle is slow, most of a campaign waits on a cluster that falls silent, and the others idle."""
    pace, room = a_pace(rate=5.0, waiting=20_000)._replace(cycle=1000.0), ROOM._replace(everywhere=144)
    tasks, _, jobs = size(pace, room, TARGET)
    assert jobs is None or tasks * jobs < 20_000 / 4 + tasks
    assert size(pace._replace(waiting=2000), room, TARGET).jobs == -(
        -2000 // size(pace._replace(waiting=2000), room, TARGET).tasks
    )


def test_the_first_tasks_that_end_do_not_give_their_cluster_all_others() -> None:
    """They are the shortest; by their mean it would do the rest in a moment."""
    pace, room = a_pace(rate=5.0, waiting=2000)._replace(cycle=2.0), ROOM._replace(everywhere=144)
    tasks, _, jobs = size(pace._replace(done=199, duration_sum=1.99, duration_square_sum=0.0199), room, TARGET)
    assert jobs == -(-500 // tasks)
    tasks, _, jobs = size(pace._replace(done=200, duration_sum=2.0, duration_square_sum=0.02), room, TARGET)
    assert jobs == -(-2000 // tasks)


def test_what_is_sent_first_leaves_the_other_clusters_their_shares(database: Database) -> None:
    """Though the first 16 of 2,000 tasks took 10 ms each; what follows the share are jobs of a fair size.

    The others have jobs of 20 tasks, which count: a quarter of what waits would be 250 only.
    """
    names = ("dahu", "luke", "yeti", "cargo")
    with database.begin() as conn:
        here, *others = [a_cluster(conn, name) for name in names]
        campaign = a_campaign(conn, 2016, clusters=names)
        jobs = submitted_jobs(conn, campaign, here, 16)
        run_jobs(conn, jobs)
        end_jobs(conn, here, jobs, seconds=0.01)
        for id in others:
            submitted_jobs(conn, campaign, id, 16, tasks=20)
    tools = PassContext(database, Settings(), TransportGateway())
    set_time(database, later(1))
    for offered in (16, 8):
        with database.begin() as conn:
            put_offers(conn, [NewOffer(campaign, here, offered, offered, 0)])
        campaign_schedulers.run_once(tools)
    with database.begin() as conn:
        (carried,) = [pace.carried for pace in list_job_sizing_statistics(conn, [campaign]) if pace.cluster_id == here]
    assert 400 < carried < 700


def test_a_rate_is_the_most_starts_that_were_seen_together() -> None:
    assert start_rate([0.0, 1.0, 2.0, 3.0]) is None
    assert start_rate([0.0, 100.0, 200.0, 300.0, 400.0]) == 0.5
    assert start_rate([0.0, 50.0, 50.1, 50.2, 51.9, 52.1, 400.0]) == 2.0


def test_tasks_run_side_by_side_where_jobs_of_the_target_length_are_too_many_to_start() -> None:
    """1,000 cores at 3 jobs a second: jobs of a minute would keep 90 of them busy."""
    pace, room = a_pace(rate=3.0)._replace(side_by_side=32), OfferedJobCounts(1000, 1000, 1000, 36_000, 0)
    needed = 1000 / (SHARE_OF_ROOM * (start_rate(pace.starts) or 0.0))
    tasks, side, _ = size(pace, room, TARGET)
    assert side == -(-needed // TARGET)
    assert tasks == side * int(max(TARGET, needed / side) / (0.01 + TASK_START))
    assert size(pace._replace(side_by_side=4), room, TARGET).side == 4
    assert size(pace, room._replace(offered=3), TARGET).side == 3
    assert size(pace, ROOM, TARGET).side == 1
    assert size(pace._replace(is_temporal=False), room, TARGET) == JobSize(32, 32)


@pytest.mark.parametrize(
    ("fields", "may"),
    [
        ({}, True),
        ({"resources": {"cpu": 2, "mem": 100}}, True),
        ({"dimensional_grouping": "false"}, False),
        ({"checkpoint": True}, False),
        ({"resources": {"nodes": 2}}, False),
        ({"resources": {"gpu": 1}}, False),
        ({"resources": "/nodes=1"}, False),
        ({"types": ["timesharing"]}, False),
        ({"limits": {"matlab": 1}}, False),
    ],
)
def test_tasks_that_need_more_than_cores_are_alone_on_them(fields: dict[str, Any], may: bool) -> None:
    assert ClusterSettings.model_validate({"exec_file": "true", **fields}).may_share_a_node is may


def test_a_job_that_runs_tasks_side_by_side_uses_as_many_cores_of_a_quota() -> None:
    quota = Ceiling(CeilingKind.QUOTA_CORES, "*,*,all,ann")
    ceilings = Ceilings({quota: 10}, {quota: 1}, {(1, 8): {quota: 2}})
    assert fitting(ceilings, 1, [(8, 3), (8, 2), (8, 1), (8, 1)]) == [True, False, True, False]
