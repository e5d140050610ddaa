"""How clusters serve us, as measured in what jobs did."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, select, text

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.estimates.durations import counted, quantile
from cigri.flow.cluster_states import count_ours, put_cluster_state
from cigri.flow.forecasts import NewClusterRates, put_cluster_forecasts
from cigri.flow.live_jobs import mark_missing
from cigri.flow.views.campaign_progress import CampaignProgress, list_progress
from cigri.flow.views.cluster_service import list_ages, list_cluster_services, list_under_way
from cigri.states import Outcome
from cigri.tables.clusters import ClusterRate, ClusterState
from modules.predictor.algorithm_inputs import measure
from modules.predictor.freed_cores import FreedCores, endings
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

UNKNOWN = NewClusterRates(0, None, None, None, None, None, None)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def progress(conn: Connection, now: datetime = NOON) -> CampaignProgress:
    set_time(conn, now)
    (part,) = list_progress(conn, 3600.0)
    return part


def test_a_cluster_that_has_served_nobody_is_not_known(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=10, keep_waiting=7)
        pace = list_cluster_services(conn, 900.0)[cluster]
        assert (pace.config.keep_waiting, pace.total, pace.free) == (7, 10, 10)
        assert (pace.start_rate, pace.queue_delay, pace.kills, pace.core_seconds) == (None, None, 0, 0.0)
        assert list_under_way(conn, [cluster]) == []


def test_the_start_rate_is_that_of_the_best_ten_seconds(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 60), cluster, 60)
        set_time(conn, later(100))
        run_jobs(conn, jobs[:10])
        set_time(conn, later(200))
        assert list_cluster_services(conn, 900.0)[cluster].start_rate == 1.0
        set_time(conn, later(110))
        run_jobs(conn, jobs[10:])
        set_time(conn, later(200))
        assert list_cluster_services(conn, 900.0)[cluster].start_rate == 5.0
        assert list_cluster_services(conn, 60.0)[cluster].start_rate is None


@pytest.mark.parametrize(
    ("poll_interval", "cycle", "rate"), [(1.0, 2.0, 15.0), (5.0, 2.0, 6.0), (60.0, 2.0, 3.0), (0.0, 0.0, 30.0)]
)
def test_a_wave_that_starts_between_two_looks_is_seen_as_one(
    database: Database, poll_interval: float, cycle: float, rate: float
) -> None:
    """30 jobs in one second; no more than what a look sees is taken together."""
    with database.begin() as conn:
        cluster = a_cluster(conn, poll_interval=poll_interval)
        put_cluster_forecasts(conn, [UNKNOWN._replace(cluster_id=cluster, cycle=cycle)])
        jobs = submitted_jobs(conn, a_campaign(conn, 30), cluster, 30)
        set_time(conn, later(100))
        run_jobs(conn, jobs)
        set_time(conn, later(200))
        assert list_cluster_services(conn, 900.0)[cluster].start_rate == rate


def test_the_next_jobs_have_to_be_sent_before_the_cores_are_free(database: Database) -> None:
    """Nine of ten jobs are sent in 0.5 s; what takes longer than from one look to the next waits for something else."""
    with database.begin() as conn:
        cluster = a_cluster(conn, poll_interval=2.0)
        put_cluster_forecasts(conn, [UNKNOWN._replace(cluster_id=cluster, cycle=2.0)])
        jobs = submitted_jobs(conn, a_campaign(conn, 20), cluster, 20)
        set_time(conn, later(1))
        run_jobs(conn, jobs)
        conn.execute(
            text("UPDATE jobs SET submitted_at = created_at + interval '0.5 s' WHERE id < :id"), {"id": jobs[19]}
        )
        set_time(conn, later(2))
        service = measure(list_cluster_services(conn, 900.0)[cluster], later(2))
        assert (service.look, service.sending, service.measured.queue_delay) == (2.0, 0.5, 1.0)
        assert service.horizon == 3.5
        conn.execute(text("UPDATE jobs SET submitted_at = created_at + interval '1 hour'"))
        assert measure(list_cluster_services(conn, 900.0)[cluster], later(2)).sending == 2.0


def test_the_queue_delay_is_that_of_jobs_that_found_a_core(database: Database) -> None:
    """The others wait until one is free, and so do all where none is."""
    with database.begin() as conn:
        cluster, full = a_cluster(conn, free=10), a_cluster(conn, "full", free=0)
        campaign = a_campaign(conn, 40, clusters=("dahu", "full"))
        jobs, others = submitted_jobs(conn, campaign, cluster, 20), submitted_jobs(conn, campaign, full, 20)
        set_time(conn, later(12))
        run_jobs(conn, jobs[:10])
        set_time(conn, later(300))
        run_jobs(conn, [*jobs[10:], *others])
        set_time(conn, later(400))
        assert list_cluster_services(conn, 900.0)[cluster].queue_delay == 12.0
        assert list_cluster_services(conn, 900.0)[full].queue_delay is None
        assert list_cluster_services(conn, 200.0)[cluster].queue_delay is None


def test_the_queue_delay_of_a_queue_that_never_empties_is_what_it_was_before(database: Database) -> None:
    """Jobs that find others before them wait for these, as long as we let them: it would grow for ever."""
    with database.begin() as conn:
        cluster = a_cluster(conn, free=10)
        campaign = a_campaign(conn, 40)
        first = submitted_jobs(conn, campaign, cluster, 20)
        set_time(conn, later(7))
        run_jobs(conn, first[:10])
        set_time(conn, later(60))
        put_cluster_state(conn, cluster, Capacity(20, 10, 10, 0), 10)
        set_time(conn, later(61))
        second = submitted_jobs(conn, campaign, cluster, 10)
        set_time(conn, later(90))
        run_jobs(conn, first[10:])
        set_time(conn, later(300))
        run_jobs(conn, second)
        set_time(conn, later(400))
        pace = list_cluster_services(conn, 900.0)[cluster]
        assert pace.queue_delay == 7.0
        put_cluster_forecasts(conn, [measure(pace, later(400)).measured])
        assert list_cluster_services(conn, 350.0)[cluster].queue_delay == 7.0


def test_the_queue_delay_is_the_median_of_submissions(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=10)
        campaign = a_campaign(conn, 3)
        for at, seconds in ((0, 5), (60, 50), (120, 8)):
            set_time(conn, later(at))
            put_cluster_state(conn, cluster, Capacity(10, 10, 0, 0), 0)
            jobs = submitted_jobs(conn, campaign, cluster, 1)
            set_time(conn, later(at + seconds))
            run_jobs(conn, jobs)
        set_time(conn, later(400))
        assert list_cluster_services(conn, 900.0)[cluster].queue_delay == 8.0


def test_the_swing_is_what_others_took_or_gave_back_at_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, used=10)
        for minute, others in enumerate((10, 16, 4, 5)):
            set_time(conn, later(60 * minute))
            put_cluster_state(conn, cluster, Capacity(30, 0, others + minute, 0), minute)
        set_time(conn, later(240))
        pace = list_cluster_services(conn, 900.0)[cluster]
        assert (pace.others, pace.swing) == (5, 12)
        assert list_cluster_services(conn, 900.0, long_window=130.0)[cluster].swing == 1


def test_jobs_that_a_visit_finds_begun_are_ours_in_what_it_wrote(database: Database) -> None:
    with database.begin() as conn:
        cluster, other = a_cluster(conn, used=2), a_cluster(conn, "other", used=9)
        jobs = submitted_jobs(conn, a_campaign(conn, 8, clusters=("dahu", "other")), cluster, 8)
        set_time(conn, later(60))
        put_cluster_state(conn, cluster, Capacity(20, 17, 3, 0), 0)
        set_time(conn, later(61))
        run_jobs(conn, jobs[:5])
        count_ours(conn, cluster)
        usage = "SELECT used_by_us FROM cluster_usage WHERE cluster_id = :id ORDER BY at"
        assert conn.execute(text(usage), {"id": cluster}).scalars().all() == [0, 3]  # not more than are used
        set_time(conn, later(90))
        put_cluster_state(conn, cluster, Capacity(20, 10, 10, 0), 0)  # of the same minute
        count_ours(conn, cluster)
        assert conn.execute(text(usage), {"id": cluster}).scalars().all() == [0, 3]
        state = select(ClusterState.c.cluster_id, ClusterState.c.used_by_us).order_by(ClusterState.c.cluster_id)
        assert [tuple(row) for row in conn.execute(state)] == [(cluster, 5), (other, 0)]


def test_jobs_that_a_visit_no_longer_finds_are_not_ours(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 4), cluster, 4)
        run_jobs(conn, jobs)
        set_time(conn, later(60))
        put_cluster_state(conn, cluster, Capacity(20, 10, 10, 0), 4)
        mark_missing(conn, jobs[:3])
        count_ours(conn, cluster)
        assert conn.execute(select(ClusterState.c.used_by_us)).scalar_one() == 1


def test_only_the_latest_starts_are_looked_at(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cigri.flow.views.cluster_service.SAMPLE", 5)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 30), cluster, 30)
        set_time(conn, later(10))
        run_jobs(conn, jobs[:25])
        set_time(conn, later(100))
        pace = list_cluster_services(conn, 900.0)[cluster]
        assert (pace.start_rate, pace.queue_delay) == (0.5, None)


def test_kills_count_against_the_core_seconds_of_ours(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 10), cluster, 10)
        run_jobs(conn, jobs)
        for minute in range(5):
            set_time(conn, later(60 * minute))
            put_cluster_state(conn, cluster, Capacity(30, 10, 20, 0), 10)
        set_time(conn, later(200))
        end_jobs(conn, cluster, jobs[:2], Outcome.PREEMPTED)
        end_jobs(conn, cluster, jobs[2:3])
        set_time(conn, later(300))
        pace = list_cluster_services(conn, 900.0)[cluster]
        assert (pace.kills, pace.core_seconds) == (2, 4 * 10 * 60.0)  # the first minute is the factory's
        assert measure(pace, later(300)).measured.hazard == 2 / (2400 + 3600)
        assert list_cluster_services(conn, 90.0)[cluster].kills == 2
        assert list_cluster_services(conn, 60.0, long_window=90.0)[cluster].kills == 0


def test_local_load_comes_and_goes(database: Database) -> None:
    """Others have 10, 16, 13, 13, 20 cores of it: 13 taken and 3 given back in four minutes; ours do not count."""
    with database.begin() as conn:
        cluster = a_cluster(conn, used=10)
        for minute, others in enumerate((10, 16, 13, 13, 20)):
            set_time(conn, later(60 * minute))
            put_cluster_state(conn, cluster, Capacity(30, 0, others + minute, 0), minute)
        set_time(conn, later(240))
        pace = list_cluster_services(conn, 900.0)[cluster]
        assert (pace.taken, pace.given, pace.usage_seconds) == (13.0, 3.0, 240.0)
        late = list_cluster_services(conn, 130.0)[cluster]
        assert (late.taken, late.given, late.usage_seconds) == (7.0, 3.0, 180.0)
        measured = measure(pace, later(240)).measured
        assert (measured.arrivals, measured.releases) == (13 / 240, 3 / 240)


def test_the_cycle_is_the_time_between_two_forecasts(database: Database) -> None:
    def cycle(now: datetime) -> float:
        set_time(conn, now)
        pace = list_cluster_services(conn, 900.0)[cluster]
        service = measure(pace, now)
        put_cluster_forecasts(conn, [service.measured])
        return service.cycle

    with database.begin() as conn:
        cluster = a_cluster(conn)
        assert [cycle(later(at)) for at in (0, 10, 14, 14, 10_000)] == [10.0, 10.0, 7.0, 7.0, 7.0]
        row = conn.execute(select(ClusterRate.c.at, ClusterRate.c.cycle)).one()
        assert tuple(row) == (later(10_000), 7.0)


def ending(conn: Connection, cluster: int, horizon: float, at: float) -> FreedCores:
    set_time(conn, later(at))
    return endings(list_under_way(conn, [cluster]), {cluster: horizon})[cluster]


def after_durations(conn: Connection, durations: tuple[float, ...], running: int) -> int:
    """A cluster where tasks lasted so long, and others have been started at noon."""
    cluster = a_cluster(conn)
    jobs = submitted_jobs(conn, a_campaign(conn, len(durations) + running), cluster, len(durations) + running)
    run_jobs(conn, jobs)
    for job, seconds in zip(jobs, durations, strict=False):
        end_jobs(conn, cluster, [job], seconds=seconds)
    return cluster


def test_before_the_first_end_a_job_lasts_once_more_its_age(database: Database) -> None:
    with database.begin() as conn:
        cluster = after_durations(conn, (), 6)
        assert ending(conn, cluster, 20.0, 0).cores == 6.0
        assert ending(conn, cluster, 20.0, 40).cores == pytest.approx(2.0)
        assert ending(conn, cluster, 20.0, 40).variance == pytest.approx((6 * (1 / 3 * 2 / 3) ** 0.5) ** 2)


def test_of_two_campaigns_of_which_nothing_is_known_each_ends_by_itself(database: Database) -> None:
    with database.begin() as conn:
        cluster = after_durations(conn, (), 6)
        run_jobs(conn, submitted_jobs(conn, a_campaign(conn, 3), cluster, 3))
        assert ending(conn, cluster, 20.0, 40).variance == pytest.approx((6**2 + 3**2) * 1 / 3 * 2 / 3)


def test_jobs_that_last_the_same_end_together(database: Database) -> None:
    with database.begin() as conn:
        cluster = after_durations(conn, (600.0,) * 4, 6)
        assert ending(conn, cluster, 15.0, 500) == (0.0, 0.0)
        assert ending(conn, cluster, 15.0, 590) == (6.0, 0.0)


def test_uneven_durations_spread_the_ends(database: Database) -> None:
    """Mean 600, deviation 200: between 254 and 946 s; at 700 s of age 246 s are left, so that 15 s are 0.061."""
    with database.begin() as conn:
        cluster = after_durations(conn, (400.0, 600.0, 800.0), 6)
        assert ending(conn, cluster, 15.0, 200).cores == 0.0
        assert ending(conn, cluster, 15.0, 700).cores == pytest.approx(6 * 15 / 246.4, rel=0.01)
        assert ending(conn, cluster, 15.0, 5000).cores == 6.0  # past their walltime


def test_short_jobs_follow_each_other(database: Database) -> None:
    with database.begin() as conn:
        cluster = after_durations(conn, (3.0,) * 4, 6)
        assert ending(conn, cluster, 15.0, 1).cores == pytest.approx(30.0)


def test_a_job_of_many_tasks_lasts_longer(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 45)
        first = submitted_jobs(conn, campaign, cluster, 5)
        run_jobs(conn, first)
        end_jobs(conn, cluster, first, seconds=10.0)
        run_jobs(conn, submitted_jobs(conn, campaign, cluster, 4, tasks=10))
        assert ending(conn, cluster, 15.0, 50).cores == 0.0
        assert ending(conn, cluster, 15.0, 95).cores == 4.0


def test_the_durations_of_many_tasks_even_out(database: Database) -> None:
    """Mean 60, deviation 20: 16 of them last 960 with a deviation of 80, from 821 s on."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 35)
        first = submitted_jobs(conn, campaign, cluster, 3)
        run_jobs(conn, first)
        for job, seconds in zip(first, (40.0, 60.0, 80.0), strict=True):
            end_jobs(conn, cluster, [job], seconds=seconds)
        run_jobs(conn, submitted_jobs(conn, campaign, cluster, 2, tasks=16))
        assert ending(conn, cluster, 15.0, 800).cores == 0.0
        assert ending(conn, cluster, 15.0, 810).cores == pytest.approx(2 * 15 / 288.6, rel=0.01)


def test_jobs_sent_are_counted_since_the_last_pass(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 20)
        assert progress(conn).submitted == 0
        set_time(conn, later(10))
        put_cluster_forecasts(conn, [UNKNOWN._replace(cluster_id=cluster)])
        set_time(conn, later(5))
        submitted_jobs(conn, campaign, cluster, 3)
        set_time(conn, later(12))
        submitted_jobs(conn, campaign, cluster, 4)
        set_time(conn, later(14))
        submitted_jobs(conn, campaign, cluster, 1)
        assert progress(conn, later(20)).submitted == 5
        set_time(conn, later(20))
        put_cluster_forecasts(conn, [UNKNOWN._replace(cluster_id=cluster)])
        assert progress(conn, later(30)).submitted == 0


def test_durations_add_up_bin_by_bin(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 9), cluster, 9)
        run_jobs(conn, jobs)
        lasted = (1.0, 1.0, 30.0, 0.01, 1000.0, 5.0)
        for job, seconds in zip(jobs, lasted, strict=False):
            end_jobs(conn, cluster, [job], seconds=seconds)
        end_jobs(conn, cluster, jobs[6:8], Outcome.FAILURE, exit_code=1, seconds=7.0)
        part = progress(conn)
        assert list(part.durations) == counted(lasted)
        before = quantile(part.durations, 0.5)
        end_jobs(conn, cluster, jobs[8:], seconds=500.0)
        moved = quantile(progress(conn).durations, 0.5)
        assert before is not None
        assert moved is not None
        assert before < moved


def test_what_is_done_of_late_is_counted(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 8), cluster, 8)
        run_jobs(conn, jobs)
        set_time(conn, later(30))
        end_jobs(conn, cluster, jobs[:3])
        set_time(conn, later(90))
        end_jobs(conn, cluster, jobs[3:4])
        part = progress(conn, later(120))
        assert (part.window_tasks, part.window_seconds) == (4, 120.0)


def test_the_last_forecast_comes_back(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
        assert (progress(conn).ratio, progress(conn).memory, progress(conn).walltime) == (None, {}, 3600.0)
        conn.execute(
            text(
                "INSERT INTO forecasts (campaign_id, cluster_id, at, ratio, remaining, free, memory) "
                "SELECT campaign_id, cluster_id, now(), 0.25, 1, 9, '{\"rate\": 4}' FROM campaign_clusters"
            )
        )
        part = progress(conn)
        assert (part.ratio, part.free, part.memory) == (0.25, 9, {"rate": 4})


def test_the_ages_of_tasks_that_run_are_counted_as_durations_are(database: Database) -> None:
    """Campaigns that nobody asks for, jobs that wait, and jobs of several tasks are left out."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 8), a_campaign(conn, 1)
        jobs = submitted_jobs(conn, campaign, cluster, 6)
        run_jobs(conn, submitted_jobs(conn, other, cluster, 1))
        run_jobs(conn, jobs[:3])
        set_time(conn, later(299.9))
        run_jobs(conn, jobs[3:4])
        set_time(conn, later(100))
        run_jobs(conn, jobs[4:5])
        conn.execute(text("UPDATE attempts SET position = 2 WHERE job_id = :job"), {"job": jobs[2]})
        set_time(conn, later(300))
        found = list_ages(conn, [campaign])
        assert found == {campaign: {cluster: counted([300.0, 300.0, 200.0, 0.1])}}
        assert list_ages(conn, []) == {}


@pytest.mark.parametrize(
    ("others", "restless", "drift"),
    [
        pytest.param([0, 0, 0], 0.0, 0.0, id="nobody"),
        pytest.param([0, 6, 0], 72.0, 0.0, id="come and gone"),
        pytest.param([0, 6, 6], 36.0, 6.0, id="come"),
        pytest.param([6, 4, 2], 8.0, -4.0, id="going"),
    ],
)
def test_what_others_change_in_the_long_window_is_added_up(
    database: Database, others: list[int], restless: float, drift: float
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        for minute, cores in enumerate(others, start=1):
            set_time(conn, later(60 * minute))
            put_cluster_state(conn, cluster, Capacity(20, 20 - cores, cores, 0), 0)
        set_time(conn, later(200))
        pace = list_cluster_services(conn, 60.0, long_window=181.0)[cluster]
        assert (pace.restless, pace.drift, pace.watched) == (restless, drift, 120.0)
