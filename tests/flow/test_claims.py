"""Tasks are claimed in order and never twice."""

import threading

import pytest
from sqlalchemy import Connection, select, text, update
from sqlalchemy.exc import IntegrityError

from cigri.database import Database
from cigri.flow.batches import put_batch, put_submitted
from cigri.flow.cancellations import kill_job
from cigri.flow.grid_identity import grid_key
from cigri.flow.holds import hold_campaign
from cigri.flow.launches import NewJob, list_busy, list_launches, put_jobs
from cigri.flow.live_jobs import list_watched
from cigri.flow.offers import NewOffer, put_offers, take_offers
from cigri.flow.tasks import take_waiting
from cigri.flow.views.invariants import examine
from cigri.flow.withdrawals import list_launching, return_tasks
from cigri.settings.sections import JobSettings
from cigri.states import JobState, Outcome, TaskState
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs


def test_the_highest_priority_goes_first_then_the_oldest(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 6)
        for number, priority in ((4, 20), (1, 0), (2, 20)):
            conn.execute(update(Task).where(Task.c.number == number).values(priority=priority))
        numbers = dict(conn.execute(select(Task.c.id, Task.c.number)).all())
        assert [numbers[task.id] for task in take_waiting(conn, campaign, 6)] == [2, 4, 0, 3, 5, 1]
        assert [numbers[task.id] for task in take_waiting(conn, campaign, 3)] == [2, 4, 0]


def test_the_best_tasks_of_all_buckets_go_first(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 4)
        conn.execute(
            text("INSERT INTO buckets (campaign_id, requirements) VALUES (:id, '{\"a\": 1}')"), {"id": campaign}
        )
        other = select(text("max(id)")).select_from(text("buckets")).scalar_subquery()
        conn.execute(update(Task).where(Task.c.number > 1).values(bucket_id=other))
        conn.execute(update(Task).where(Task.c.number == 3).values(priority=20))
        numbers = dict(conn.execute(select(Task.c.id, Task.c.number)).all())
        assert [numbers[task.id] for task in take_waiting(conn, campaign, 3)] == [3, 0, 1]


def test_nobody_claims_what_somebody_else_is_claiming(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 5)
    with database.begin() as one:
        first = {task.id for task in take_waiting(one, campaign, 3)}
        with database.begin() as other:
            second = {task.id for task in take_waiting(other, campaign, 3)}
    assert (len(first), len(second)) == (3, 2)
    assert not first & second


def test_many_claim_at_once_and_each_task_gets_one_job(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 200)
    start = threading.Barrier(4)

    def claim() -> None:
        start.wait(10)
        for _ in range(30):
            with database.begin() as conn:
                tasks = take_waiting(conn, campaign, 3)
                put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in tasks])

    claimers = [threading.Thread(target=claim) for _ in range(4)]
    for claimer in claimers:
        claimer.start()
    for claimer in claimers:
        claimer.join()
    with database.begin() as conn:
        assert len(conn.scalars(select(Job.c.id)).all()) == 200
        assert set(conn.scalars(select(Task.c.attempts))) == {1}
        assert examine(conn) == []


def test_attempts_are_numbered_and_only_the_last_is_live(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        for _ in range(2):
            end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1), Outcome.PREEMPTED, exit_code=None)
        submitted_jobs(conn, campaign, cluster, 1)
        found = conn.execute(select(Attempt.c.number, Attempt.c.outcome).order_by(Attempt.c.number)).all()
        assert list(found) == [(1, Outcome.PREEMPTED), (2, Outcome.PREEMPTED), (3, None)]
        assert conn.execute(select(Task.c.attempts)).scalar_one() == 3


def test_a_task_that_is_assigned_gets_no_second_job(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        (task,) = take_waiting(conn, campaign, 1)
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task])])
    again = task._replace(attempts=1)
    with pytest.raises(IntegrityError, match="uq_attempts_live"), database.begin() as conn:
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [again])])


def test_an_offer_is_taken_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first, second = a_campaign(conn, 1), a_campaign(conn, 1)
        put_offers(conn, [NewOffer(first, cluster, 4, 4, 1), NewOffer(second, cluster, 2, 2, 0)])
        assert [(offer.campaign_id, offer.jobs, offer.walltime) for offer in take_offers(conn)] == [
            (second, 2, 3600),
            (first, 4, 3600),
        ]
        assert take_offers(conn) == []


def test_an_offer_to_a_campaign_that_was_held_meanwhile_is_void(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 1), a_campaign(conn, 1)
        put_offers(conn, [NewOffer(one, cluster, 1, 1, 0) for one in (campaign, other)])
        hold_campaign(conn, campaign, ALICE)
        assert [offer.campaign_id for offer in take_offers(conn)] == [other]
        put_offers(conn, [NewOffer(one, cluster, 1, 1, 0) for one in (campaign, other)])
        hold_campaign(conn, other, ALICE, cluster="dahu")
        assert take_offers(conn) == []


def test_a_batch_travels_only_whole(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, campaign, 2)])
        (launch,) = list_launches(conn, cluster, 10, 10)
        kill_job(conn, launch.jobs[0].id, ALICE)
        assert put_batch(conn, launch, cluster, grid_key(conn)) is None
        assert conn.scalars(select(Batch.c.id)).all() == []
        (launch,) = list_launches(conn, cluster, 10, 10)
        assert len(launch.jobs) == 1


def test_an_array_is_no_longer_than_the_cluster_takes(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        _chosen(conn, cluster, 7)
        assert [len(launch.jobs) for launch in list_launches(conn, cluster, 6, 4)] == [4, 2]


def test_a_batch_given_back_is_free_of_charge_and_settled_once(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = _chosen(conn, cluster, 2)
        (launch,) = list_launches(conn, cluster, 9, 9)
        batch = put_batch(conn, launch, cluster, grid_key(conn))
        assert batch is not None
        assert [launching.tag for launching in list_launching(conn, cluster)] == [batch.tag]
        assert list_busy(conn) == {cluster: True}
        assert return_tasks(conn, cluster, batch.id, Outcome.WITHDRAWN, "no", JobSettings()) == 2
        assert return_tasks(conn, cluster, batch.id, Outcome.WITHDRAWN, "no", JobSettings()) == 0
        assert put_submitted(conn, batch.id, {1: "r1"}) == 0
        assert list_watched(conn, cluster, 0.0) == []
        assert list_launching(conn, cluster) == []
        assert list_busy(conn) == {}
        row = Task
        tasks = conn.execute(
            select(row.c.state, row.c.priority, row.c.failures, row.c.deaths, row.c.resubmissions)
        ).all()
        assert {tuple(task) for task in tasks} == {(TaskState.WAITING, 20, 0, 0, 0)}
        assert set(conn.scalars(select(Job.c.state))) == {JobState.ENDED}
        assert len(take_waiting(conn, campaign, 9)) == 2
        assert examine(conn) == []


def _chosen(conn: Connection, cluster: int, jobs: int) -> int:
    campaign = a_campaign(conn, jobs)
    put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, campaign, jobs)])
    return campaign


def test_a_batch_that_was_submitted_meanwhile_is_not_put_back(database: Database) -> None:
    """Who comes too late with the news that it was cut off changes nothing of it, nor of its jobs."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        submitted_jobs(conn, campaign, cluster, 2)
        batch = conn.execute(select(Batch)).one()
        assert return_tasks(conn, cluster, batch.id, Outcome.WITHDRAWN, "too late", JobSettings()) == 0
        assert conn.execute(select(Batch)).one() == batch
        assert set(conn.execute(select(Job.c.state)).scalars()) == {JobState.SUBMITTED}
        assert set(conn.execute(select(Task.c.state)).scalars()) == {TaskState.ASSIGNED}
