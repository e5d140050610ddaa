"""What if: how a small grid stands for a large one, and what is foretold of one campaign behind another."""

import math
from collections.abc import Callable
from random import Random
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from cigri.database import Database, schema
from cigri.database.virtual import VirtualTimeDatabase
from cigri.errors import CigriError
from cigri.flow.grid_snapshot import USAGE_STEP, take_picture
from cigri.flow.submissions import NewCampaign, NewCampaignCluster
from cigri.flow.task_durations import PastDurations
from cigri.settings.sections import Settings
from cigri.states import CampaignType
from modules.laboratory.whatif import local_load, simulation
from modules.laboratory.whatif.durations import DurationTotals, TaskDurationModel, durations
from modules.laboratory.whatif.interval import DURATION_ERRORS, SimulatedEnd, interval
from modules.laboratory.whatif.plan import ProposedCampaign, SimulationPlan, plan
from modules.laboratory.whatif.scale import MOST_SIMULATED_TASKS, RemainingWork, scale, shared_out
from modules.laboratory.whatif.simulation_run import SimulatedFuture, SimulatedOutcome
from modules.laboratory.whatif.small_grid import board
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.flow.test_buckets import sized

pytestmark = pytest.mark.noon

TEN = durations({}, {1: 10}, {1: 3600})


def an_order(
    tasks: int, seconds: int | None = 100, clusters: tuple[str, ...] = ("dahu",), **fields: Any
) -> ProposedCampaign:
    settings = {"exec_file": "run", "walltime": 3600, "retries": 0, "duration": seconds, **fields}
    part = NewCampaignCluster(settings, 1, None, False, False)
    return ProposedCampaign(
        NewCampaign("n", "bob", CampaignType.DEFAULT, "", "", {}, dict.fromkeys(clusters, part)), tasks
    )


def made(database: Database, *orders: ProposedCampaign) -> SimulationPlan:
    with database.begin() as conn:
        picture = take_picture(conn, {order.command for order in orders})
    return plan(picture, orders, 2.0)


def test_what_was_measured_goes_before_what_is_said_and_that_before_the_walltime() -> None:
    past = {1: DurationTotals(10, 200.0, 4000.0), 2: DurationTotals(1, 50.0, 2500.0)}
    known = durations(past, {1: 7, 2: 7}, {1: 100, 2: 100})
    assert known.means == {1: 20.0, 2: pytest.approx(250 / 11)}  # one task is no measure of a cluster
    said = durations({}, {1: 7, 2: None}, {1: 100, 2: 100})
    assert said.means == {1: 7.0, 2: 7.0}
    assert known.doubt < said.doubt < durations({}, {}, {1: 100}).doubt


def test_what_these_very_tasks_took_goes_before_what_others_of_the_same_command_did() -> None:
    past = {1: DurationTotals(10, 200.0, 4000.0), 2: DurationTotals(10, 400.0, 16000.0)}
    limits = {1: 3600, 2: 3600}
    whole = durations(past, {1: 7, 2: 7}, limits, DurationTotals(5, 300.0, 18000.0), 1.0)
    assert whole.means == {1: pytest.approx(40.0), 2: pytest.approx(80.0)}  # the second cluster is half as fast
    half = durations(past, {}, limits, DurationTotals(5, 300.0, 18000.0), 0.5)
    assert half.means == {1: pytest.approx(30.0), 2: pytest.approx(60.0)}
    alone = durations({}, {1: 7, 2: 7}, limits, DurationTotals(5, 300.0, 18000.0), 0.5)
    assert alone.means == {1: 60.0, 2: 60.0}
    assert alone.source == "5 of these tasks, which ran before"


def test_an_order_is_planned_by_what_its_tasks_took(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
    order = an_order(50)._replace(known=PastDurations(50, 50, 1500.0, 45000.0))
    assert made(database, order).works[-1].durations.means == {1: 30.0}


def test_the_walltime_alone_leaves_a_factor_of_twenty() -> None:
    known = durations({}, {}, {1: 3600})
    assert known.mean * math.exp(1.645 * known.doubt) == pytest.approx(3600)
    assert known.mean * math.exp(-1.645 * known.doubt) == pytest.approx(3600 / 20)


def test_several_tasks_as_one_last_as_long_and_vary_less() -> None:
    known = TaskDurationModel({1: 10.0}, {1: 3600.0}, 0.5, 0.2, "")
    drawn = [known.draw(1, Random(seed), 0.0, 16) for seed in range(500)]
    assert fmean(drawn) == pytest.approx(160, rel=0.03)
    assert fmean((seconds - 160) ** 2 for seconds in drawn) == pytest.approx(16 * 25, rel=0.3)


def test_no_task_lasts_longer_than_its_walltime() -> None:
    known = durations({}, {1: 90}, {1: 100})
    assert max(known.draw(1, Random(seed), 2.0) for seed in range(200)) == 95.0


def test_a_small_campaign_is_played_as_it_is() -> None:
    small = scale({-1: RemainingWork(24, TEN, {1: 1})}, [-1], {1: 4}, 2.0)
    assert (small.cores, small.together, small.cycle) == (1.0, {-1: 1}, 5.0)


def test_those_that_wait_for_each_others_tasks_have_as_many_which_are_small() -> None:
    works = {
        -1: RemainingWork(1000, TEN, {1: 1}),
        -2: RemainingWork(1000, TEN, {1: 1}, 5),
        -3: RemainingWork(90, TEN, {1: 1}, 1),
    }
    apart = scale(works, [-1, -2, -3], {1: 10}, 2.0)
    paired = scale(works, [-1, -2, -3], {1: 10}, 2.0, [(-2, -1)])
    assert apart.together == {-1: 20, -2: 40, -3: 18}
    assert paired.together == {-1: 5, -2: 5, -3: 18}


@pytest.mark.parametrize(("tasks", "room"), [(100, 4), (1000, 640), (1_000_000, 10_000), (1_000_000, 4)])
def test_what_is_played_is_bounded_and_the_work_per_core_is_the_same(tasks: int, room: int) -> None:
    small = scale({-1: RemainingWork(tasks, TEN, {1: 1})}, [-1], {1: room}, 2.0)
    played = tasks / small.cores / small.together[-1]
    assert played <= MOST_SIMULATED_TASKS + 1
    assert played * small.together[-1] / (room / small.cores) == pytest.approx(tasks / room)


def test_shares_are_right_in_the_mean_and_in_sum() -> None:
    parts = {1: 0.3, 2: 1.25, 3: 2.45}
    drawn = [shared_out(parts, Random(seed)) for seed in range(2000)]
    assert {sum(shares.values()) for shares in drawn} == {4}
    for key, part in parts.items():
        assert fmean(shares[key] for shares in drawn) == pytest.approx(part, abs=0.05)


def test_the_past_comes_again_from_where_it_is_now() -> None:
    history = [float(step % local_load.STEPS_A_DAY) for step in range(2 * local_load.STEPS_A_DAY)]
    coming = local_load.levels(history, 10.0, 1, 3 * local_load.STEPS_A_DAY)
    assert coming[0] == 10.0
    assert coming[20] == pytest.approx(20.0, abs=0.01)
    assert coming[local_load.STEPS_A_DAY + 20] == pytest.approx(20.0, abs=0.01)
    assert local_load.levels([], 5.0, 0, 1) == [5.0]


def test_jobs_of_others_use_what_is_foreseen() -> None:
    wanted = [3, 5, 1, 1, 4]
    jobs = list(local_load.jobs(wanted))
    middle = [(step + 0.5) * USAGE_STEP for step in range(len(wanted))]
    used = [sum(job.cores for job in jobs if job.submitted <= at < job.submitted + job.seconds) for at in middle]
    assert used == wanted
    assert jobs == sorted(jobs, key=lambda job: job.submitted)


def ends(doubt: float, runs: int = 5, luck: float = 0.0) -> list[SimulatedEnd]:
    """Of runs whose durations are off by `doubt`, and which are lucky and unlucky in turn."""
    return [
        SimulatedEnd(one, 100 * math.exp(doubt * one + luck * (-1) ** place))
        for place, one in enumerate(DURATION_ERRORS[:runs])
    ]


def test_the_interval_holds_what_is_not_known_of_durations_and_is_never_a_point() -> None:
    alike, apart = interval(ends(0.0), 0.0), interval(ends(0.5), 0.0)
    assert apart.low < alike.low < 90 < alike.expected < 110 < alike.high < apart.high
    assert apart.high > 100 * math.exp(1.645 * 0.5)  # 95 % of durations
    assert interval(ends(0.0), 30.0).high == alike.high + 30


def test_the_fewer_the_runs_and_the_more_they_are_luck_the_wider_is_the_interval() -> None:
    widths = [interval(ends(0.2, runs), 0.0).high for runs in (5, 3, 2)]
    assert widths == sorted(widths)
    assert interval(ends(0.2, luck=0.3), 0.0).high > 1.3 * widths[0]
    assert interval(ends(0.0, 1), 0.0).high > interval(ends(0.0, 2), 0.0).high


def test_two_runs_foretell_what_five_do() -> None:
    two, five = interval(ends(0.4, 2), 0.0), interval(ends(0.4), 0.0)
    assert two.expected == pytest.approx(five.expected) == pytest.approx(100)
    assert two.high == pytest.approx(five.high, rel=0.15)


def test_earlier_tasks_of_the_command_are_known(database: Database) -> None:
    with database.begin() as conn:
        cluster_id = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 4, user="bob"), cluster_id, 4)
        run_jobs(conn, jobs)
        end_jobs(conn, cluster_id, jobs, seconds=30.0)
    known = made(database, an_order(5, exec_file="/bin/true")).works[-1].durations
    assert (known.mean, known.source) == (30.0, "4 earlier tasks of the same command")
    assert made(database, an_order(5, exec_file="other")).works[-1].durations.mean == 100.0


def test_a_campaign_without_a_cluster_that_works_is_refused(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=0, used=0)
    with pytest.raises(CigriError, match="dahu: none of its cores is available"):
        made(database, an_order(5))


def test_large_grids_are_played_as_small_ones(database: Database) -> None:
    names = tuple(f"c{number}" for number in range(20))
    with database.begin() as conn:
        for name in names:
            a_cluster(conn, name, free=1000, max_waiting=500)
        a_campaign(conn, 300, clusters=names[:3])
    drawn = board(made(database, an_order(1_000_000, clusters=names)), Random(1))
    assert sum(one.machine.cores for one in drawn.clusters.values()) < 20
    assert sum(order.tasks for order in drawn.orders.values()) <= MOST_SIMULATED_TASKS + 1
    assert {row["id"] for row in drawn.rows["clusters"]} == set(drawn.clusters)
    assert all(row["config"]["driver"] == "simulated" for row in drawn.rows["clusters"])


def played(
    database: Database, url: str, ahead: int, clock: Callable[[], float] = lambda: 0.0, **fields: Any
) -> SimulatedOutcome:
    """16 tasks of 100 s on 4 cores, behind so many more, until the clock shows 1."""
    with database.begin() as conn:
        a_cluster(conn, free=4)
        if ahead:
            a_campaign(conn, ahead)
            conn.execute(text("UPDATE campaign_clusters SET settings = settings || '{\"duration\": 100}'"))
    it = made(database, an_order(16, **fields))
    fresh = VirtualTimeDatabase(url)
    try:
        fresh.make_clock()
        schema.upgrade(fresh)
        luck = Random(1)
        return SimulatedFuture(fresh, Settings(), it, board(it, luck), luck, 0.0).run(1.0, clock)[-1]
    finally:
        fresh.close()


def test_a_busy_host_gives_a_simulation_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    processor, clock = iter([5.0, 5.5, 6.0]), iter([100.0, 101.0, 140.0])
    clocks = SimpleNamespace(process_time=lambda: next(processor), monotonic=lambda: next(clock))
    monkeypatch.setattr(simulation, "time", clocks)
    work = simulation._work()
    assert work() == 0.5, "of a second in which others had the processor as well"
    assert work() == 10.0, "it does not wait for ever"


def test_alone_it_takes_its_work_over_the_cores(database: Database, empty_url: str) -> None:
    outcome = played(database, empty_url, 0)
    assert outcome.end is not None
    assert 400 * 0.85 <= outcome.end < 600
    assert outcome.tasks == {"dahu": 16}
    assert outcome.work["dahu"] == pytest.approx(1600, rel=0.3)


def test_what_is_cut_short_is_continued_in_proportion(database: Database, empty_url: str) -> None:
    whole = (16 * 100 / 4, 1600)
    moments = iter([0.0] * 6)  # then it is over
    outcome = played(database, empty_url, 0, lambda: next(moments, 2.0))
    assert outcome.is_cut
    assert 0 < sum(outcome.tasks.values()) < 16
    assert outcome.end is not None
    assert whole[0] * 0.7 < outcome.end < whole[0] * 1.7
    assert outcome.work["dahu"] == pytest.approx(whole[1], rel=0.4)


def test_what_is_cut_short_before_a_task_is_done_has_no_end_that_is_known(database: Database, empty_url: str) -> None:
    outcome = played(database, empty_url, 0, lambda: 2.0)
    assert (outcome.end, outcome.is_cut) == (None, True)


def test_what_never_ends_is_not_cut_short(database: Database, empty_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.laboratory.whatif.simulation_run.FARTHEST_FUTURE", 30.0)
    outcome = played(database, empty_url, 0)
    assert (outcome.end, outcome.is_cut) == (None, False)


def test_tasks_are_played_without_the_amounts_that_are_computed_for_each(database: Database, empty_url: str) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=4)
        sized(conn, [1, 2, 4])
    outcome = played(database, empty_url, 0, resources={"cpu": 1, "mem": "{size} GB"})
    assert outcome.tasks == {"dahu": 16}


def test_what_goes_first_is_waited_for(database: Database, empty_url: str) -> None:
    outcome = played(database, empty_url, 40)
    assert outcome.end is not None
    assert (40 + 16) * 100 / 4 * 0.85 < outcome.end < 2500
