"""Moving averages of durations, by bucket and cluster; open-lmake's never moved, by a parameter that hid its field."""

import pytest
from sqlalchemy import Connection, select, text, update

from cigri.database import Database
from cigri.estimates.durations import averaged
from cigri.flow.doubtful_results import DoubtfulResults, mark_doubtful
from cigri.flow.event_fixes import believe
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.task_durations import relearn_durations
from cigri.flow.tasks import take_waiting
from cigri.flow.views.campaign_progress import list_progress
from cigri.flow.views.invariants import examine
from cigri.states import Outcome
from cigri.tables.campaigns import BucketAverage
from cigri.tables.tasks import Task
from modules.predictor.campaign_estimates import estimate, mean, together
from tests.factories import a_campaign, a_cluster, end_jobs, launch_jobs, run_jobs, submitted_jobs
from tests.modules.test_predictor import progress

pytestmark = pytest.mark.noon


def known(conn: Connection) -> dict[tuple[int, int], tuple[int, float]]:
    """Weight and seconds by bucket and cluster."""
    average = BucketAverage.c
    found = conn.execute(select(average.bucket_id, average.cluster_id, average.weight, average.seconds))
    return {(bucket, cluster): (weight, round(seconds, 6)) for bucket, cluster, weight, seconds in found}


def end_some(conn: Connection, campaign: int, cluster: int, *lasted: float, outcome: Outcome = Outcome.SUCCESS) -> None:
    for seconds in lasted:
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), outcome, seconds=seconds)


def test_a_moving_average_of_the_execution_times_of_the_jobs_sharing_the_same_rule() -> None:
    assert averaged(0, 0.0, [10.0]) == (1, 10.0)
    assert averaged(1, 10.0, [20.0]) == (2, 15.0)
    assert averaged(0, 0.0, [1.0, 2.0, 3.0, 6.0]) == (4, 3.0)
    assert averaged(100, 50.0, [150.0]) == (100, 51.0)
    assert averaged(99, 50.0, [150.0, 151.0]) == (100, 52.0)


def test_the_weights_really_move() -> None:
    """Tasks become ten times as long: the average follows, a plain mean would be far behind."""
    weight, seconds = averaged(0, 0.0, [10.0] * 1000)
    assert (weight, round(seconds, 6)) == (100, 10.0)
    seen = [averaged(weight, seconds, [100.0] * number)[1] for number in (1, 10, 100, 500)]
    assert seen == pytest.approx([10.9, 100 - 90 * 0.99**10, 100 - 90 * 0.99**100, 100 - 90 * 0.99**500])
    assert seen[-1] > 99


def test_each_bucket_has_an_average_on_each_cluster(database: Database) -> None:
    with database.begin() as conn:
        dahu, luke = a_cluster(conn), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 9, clusters=("dahu", "luke"))
        conn.execute(text("INSERT INTO buckets (campaign_id, requirements) VALUES (1, '{\"a\": 1}')"))
        conn.execute(update(Task).where(Task.c.number >= 6).values(bucket_id=2))
        end_some(conn, campaign, dahu, 10.0, 20.0)
        end_some(conn, campaign, luke, 40.0)
        conn.execute(update(Task).where(Task.c.bucket_id == 2).values(priority=30))
        end_some(conn, campaign, dahu, 100.0)
        assert known(conn) == {(1, dahu): (2, 15.0), (1, luke): (1, 40.0), (2, dahu): (1, 100.0)}
        parts = list_progress(conn, 3600.0)
        assert [part.average for part in parts] == [pytest.approx(130 / 3), 40.0]
        assert estimate(together(parts)) == pytest.approx(170 / 4)
        assert examine(conn) == []


def test_several_tasks_of_one_visit_count_one_after_the_other(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 4)
        put_jobs(conn, campaign, [NewJob(cluster, 1, 3600, take_waiting(conn, campaign, 3))])
        jobs = launch_jobs(conn, cluster, 1)
        run_jobs(conn, jobs)
        end_jobs(conn, cluster, jobs, seconds=7.0)
        assert known(conn) == {(1, cluster): (3, 7.0)}


@pytest.mark.parametrize("outcome", [Outcome.FAILURE, Outcome.LOST, Outcome.PREEMPTED, Outcome.WALLTIME])
def test_only_successful_executions_are_used(database: Database, outcome: Outcome) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 3)
        end_some(conn, campaign, cluster, 50.0)
        end_some(conn, campaign, cluster, 1.0, outcome=outcome)
        assert known(conn) == {(1, cluster): (1, 50.0)}


def test_an_average_of_late_goes_before_the_mean_of_all() -> None:
    part = progress(durations=(10.0,) * 4, remaining=3)
    assert mean(part) == 10.0
    assert mean(part._replace(average=25.0)) == 25.0
    assert mean(together([part._replace(average=25.0), part._replace(average=10.0)])) == 17.5


def test_doubted_results_count_no_longer_until_they_are_believed(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 9)
        end_some(conn, campaign, cluster, 50.0, 0.1, 70.0, 0.3)
        mark_doubtful(conn, DoubtfulResults(campaign, cluster, "dahu", 1.0, None, "too soon"))
        assert known(conn) == {(1, cluster): (2, 60.0)}
        believe(conn, campaign, cluster)
        assert known(conn) == {(1, cluster): (4, 30.1)}


def test_what_is_learnt_anew_is_what_was_learnt(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 9)
        end_some(conn, campaign, cluster, 5.0, 50.0, 500.0)
        before = known(conn)
        relearn_durations(conn, campaign, cluster)
        assert known(conn) == before
