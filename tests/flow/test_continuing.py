"""Tasks with a checkpoint: the cluster that has it comes first, and for how long; who is told that they continue."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, select, update

from cigri.database import Database
from cigri.flow.checkpoint_requests import (
    record_checkpoint_states,
    request_checkpoints,
    take_checkpoint_orders,
    unsend_checkpoints,
)
from cigri.flow.ends import EndedAttempt, EndedJob, put_ended
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_continuing, take_waiting
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.live_attempts import list_attempts
from cigri.lifecycle.verdicts import AttemptCounts, CheckpointPolicy, decide_verdict
from cigri.settings.sections import JobSettings
from cigri.states import JobKind, JobState, Outcome
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.job_requests import CheckpointRequest
from cigri.tables.jobs import Job
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

PATIENCE = 600.0
LATER = NOON + timedelta(seconds=PATIENCE)
CHECKPOINT = {"signal": "USR2", "before_walltime": 60, "period": 900}


def declare(conn: Connection, **settings: object) -> None:
    for key, old in conn.execute(select(CampaignCluster.c.cluster_id, CampaignCluster.c.settings)).all():
        part = update(CampaignCluster).where(CampaignCluster.c.cluster_id == key)
        conn.execute(part.values(settings={**old, **settings}))


def stop(conn: Connection, cluster: int, job: int, outcome: Outcome, *, saved: bool, now: datetime = NOON) -> None:
    """The only task of a job ends so."""
    [live] = list_attempts(conn, [job])
    verdict = decide_verdict(outcome, AttemptCounts(0, 0, 0, 0), JobSettings())
    attempt = EndedAttempt(1, job, live.task_id, live.number, outcome, 99, None, None, verdict, saved)
    set_time(conn, now)
    put_ended(conn, cluster, [attempt], [EndedJob(job, 1, JobKind.TASKS, outcome, 99, "", "", None)])


@pytest.fixture
def stopped(database: Database) -> tuple[int, int]:
    """Campaign 1 with 5 tasks on two clusters; tasks 1 and 2 have stopped at checkpoints on the first."""
    with database.begin() as conn:
        dahu, luke = a_cluster(conn, "dahu"), a_cluster(conn, "luke")
        a_campaign(conn, 5, clusters=("dahu", "luke"))
        for job in submitted_jobs(conn, 1, dahu, 2):
            stop(conn, dahu, job, Outcome.CHECKPOINTED, saved=True)
    return dahu, luke


def ids(database: Database, jobs: dict[int, int], now: datetime) -> tuple[dict[int, list[int]], list[int]]:
    with database.begin() as conn:
        set_time(conn, now)
        mine, others = take_continuing(conn, 1, jobs, PATIENCE)
        conn.rollback()
    return {cluster: [task.id for task in tasks] for cluster, tasks in mine.items()}, [task.id for task in others]


def test_tasks_with_a_checkpoint_are_for_its_cluster_alone(database: Database, stopped: tuple[int, int]) -> None:
    dahu, luke = stopped
    assert ids(database, {dahu: 9, luke: 9}, NOON) == ({dahu: [1, 2], luke: []}, [])
    assert ids(database, {luke: 9}, NOON) == ({luke: []}, [])
    assert ids(database, {dahu: 1, luke: 9}, NOON) == ({dahu: [1], luke: []}, [])
    with database.begin() as conn:
        assert [task.id for task in take_waiting(conn, 1, 9)] == [3, 4, 5]


def test_tasks_whose_cluster_keeps_them_waiting_are_for_any(database: Database, stopped: tuple[int, int]) -> None:
    dahu, luke = stopped
    assert ids(database, {luke: 9}, LATER - timedelta(seconds=1)) == ({luke: []}, [])
    assert ids(database, {luke: 9}, LATER) == ({luke: []}, [1, 2])
    assert ids(database, {dahu: 1, luke: 9}, LATER) == ({dahu: [1], luke: []}, [2])
    assert ids(database, {dahu: 1}, LATER) == ({dahu: [1]}, [])


def test_wants_tell_who_waits_for_which_cluster(database: Database, stopped: tuple[int, int]) -> None:
    dahu, luke = stopped
    with database.begin() as conn:
        soon = {want.cluster_id: (want.waiting, want.pinned) for want in list_cluster_demands(conn, 10, PATIENCE)}
        set_time(conn, LATER)
        late = {want.cluster_id: (want.waiting, want.pinned) for want in list_cluster_demands(conn, 10, PATIENCE)}
    assert soon == {dahu: (3, 2), luke: (3, 0)}
    assert late == {dahu: (5, 0), luke: (5, 0)}


def test_only_on_the_cluster_of_its_checkpoint_does_a_task_continue(
    database: Database, stopped: tuple[int, int]
) -> None:
    dahu, luke = stopped
    with database.begin() as conn:
        set_time(conn, LATER)
        mine, others = take_continuing(conn, 1, {dahu: 1, luke: 1}, PATIENCE)
        new = take_waiting(conn, 1, 1)
        for cluster, task in ((dahu, mine[dahu][0]), (luke, others[0]), (dahu, new[0])):
            put_jobs(conn, 1, [NewJob(cluster, 1, 60, [task])])
        told = {
            task.id: task.continues
            for cluster in stopped
            for launch in list_launches(conn, cluster, 9, 9)
            for job in launch.jobs
            for task in job.tasks
        }
    assert told == {1: True, 2: False, 3: False}


def test_a_task_waits_anew_each_time_it_has_run_but_not_after_a_withdrawal(
    database: Database, stopped: tuple[int, int]
) -> None:
    dahu, _ = stopped
    for outcome, waits_since in ((Outcome.WITHDRAWN, NOON), (Outcome.PREEMPTED, LATER)):
        with database.begin() as conn:
            mine, _ = take_continuing(conn, 1, {dahu: 1}, PATIENCE)
            put_jobs(conn, 1, [NewJob(dahu, 1, 60, mine[dahu])])
            job = conn.scalar(select(Job.c.id).where(Job.c.state != JobState.ENDED))
            assert job is not None
            stop(conn, dahu, job, outcome, saved=False, now=LATER)
            row = conn.execute(select(Task.c.stopped_at, Task.c.checkpoint_cluster_id).where(Task.c.id == 1)).one()
            assert (row.stopped_at, row.checkpoint_cluster_id) == (waits_since, dahu)


def test_a_task_that_has_saved_nothing_waits_for_nobody(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_campaign(conn, 1)
        stop(conn, cluster, submitted_jobs(conn, 1, cluster, 1)[0], Outcome.PREEMPTED, saved=False)
        assert conn.execute(select(Task.c.stopped_at, Task.c.checkpoint_cluster_id)).one() == (None, None)
        assert len(take_waiting(conn, 1, 1)) == 1


def test_what_a_campaign_declares_comes_with_its_attempts(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_campaign(conn, 1)
        [job] = submitted_jobs(conn, 1, cluster, 1)
        assert list_attempts(conn, [job])[0].saving == CheckpointPolicy()
        declare(conn, checkpoint=None, idempotent=True)
        assert list_attempts(conn, [job])[0].saving == CheckpointPolicy(is_idempotent=True)
        declare(conn, checkpoint=CHECKPOINT, idempotent=False)
        assert list_attempts(conn, [job])[0].saving == CheckpointPolicy(has_checkpoint=True, period=900)
        run_jobs(conn, [job])
        request_checkpoints(conn, ALICE, campaign_id=1)
        record_checkpoint_states(conn, [job])
        assert list_attempts(conn, [job])[0].saving.was_heard


@pytest.fixture
def running(database: Database) -> tuple[int, list[int]]:
    """A cluster with three jobs of campaign 1, the first two of which run and would hear."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_campaign(conn, 3)
        jobs = submitted_jobs(conn, 1, cluster, 3)
        run_jobs(conn, jobs[:2])
        declare(conn, checkpoint=CHECKPOINT)
    return cluster, jobs


def orders(database: Database, cluster: int, now: datetime) -> list[tuple[int, bool]]:
    with database.begin() as conn:
        set_time(conn, now)
        return sorted((order.job_id, order.is_new) for order in take_checkpoint_orders(conn, cluster))


def test_running_jobs_are_asked_and_looked_after_ever_more_seldom(
    database: Database, running: tuple[int, list[int]]
) -> None:
    cluster, (first, second, _) = running
    with database.begin() as conn:
        assert request_checkpoints(conn, ALICE, campaign_id=1) == 2
    assert orders(database, cluster, NOON) == [(first, True), (second, True)]
    due = [s for s in range(200) if orders(database, cluster, NOON + timedelta(seconds=s))]
    assert due == [5, 10, 20, 40, 80, 160]
    with database.begin() as conn:
        record_checkpoint_states(conn, [first])
    assert orders(database, cluster, NOON + timedelta(seconds=320)) == [(second, False)]


def test_a_request_that_did_not_arrive_is_sent_again_and_one_may_ask_twice(
    database: Database, running: tuple[int, list[int]]
) -> None:
    cluster, (first, *_) = running
    with database.begin() as conn:
        assert request_checkpoints(conn, ALICE, job_id=first) == 1
    for _ in range(2):
        assert orders(database, cluster, NOON) == [(first, True)]
        with database.begin() as conn:
            unsend_checkpoints(conn, [first])
    with database.begin() as conn:
        record_checkpoint_states(conn, [first])
        assert request_checkpoints(conn, ALICE, job_id=first) == 1
    assert orders(database, cluster, NOON) == [(first, True)]


def test_a_request_ends_with_its_job(database: Database, running: tuple[int, list[int]]) -> None:
    cluster, (first, second, _) = running
    with database.begin() as conn:
        request_checkpoints(conn, ALICE, campaign_id=1)
        end_jobs(conn, cluster, [first])
    assert orders(database, cluster, NOON) == [(second, True)]
    with database.begin() as conn:
        assert conn.scalars(select(CheckpointRequest.c.job_id).where(CheckpointRequest.c.is_open)).all() == [second]
