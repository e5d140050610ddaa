"""Results are settled by compare-and-set: once each, and only for the attempt they belong to."""

import pytest
from sqlalchemy import Connection, select, text, update

from cigri.database import Database
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.cancellations import kill_job
from cigri.flow.ends import EndedAttempt, EndedJob, put_ended
from cigri.flow.live_jobs import ListedJob, list_watched, mark_missing, move_seen
from cigri.flow.views.campaign_progress import list_progress
from cigri.flow.views.invariants import examine
from cigri.flow.views.live_attempts import list_attempts
from cigri.lifecycle.verdicts import TaskVerdict
from cigri.states import JobKind, JobState, Outcome, StepState, TaskState
from cigri.tables.campaigns import CampaignCluster, Completion
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

pytestmark = pytest.mark.noon

DONE = TaskVerdict(TaskState.DONE, 10)
WAITING = TaskVerdict(TaskState.WAITING, 20, deaths=1)


def the_end(
    conn: Connection, job: int, outcome: Outcome = Outcome.SUCCESS, verdict: TaskVerdict = DONE
) -> tuple[list[EndedAttempt], list[EndedJob]]:
    """As the updator says it, whatever has become of the job."""
    row = conn.execute(select(Job.c.campaign_id, Job.c.kind).where(Job.c.id == job)).one()
    about = conn.execute(select(Attempt.c.task_id, Attempt.c.number).where(Attempt.c.job_id == job)).all()
    attempts = [
        EndedAttempt(row.campaign_id, job, task, number, outcome, 0, 1e9, 4.0, verdict) for task, number in about
    ]
    return attempts, [EndedJob(job, row.campaign_id, row.kind, outcome, 0, "n", "", 1e9)]


def totals(conn: Connection) -> dict[str, object]:
    part = CampaignCluster
    columns = (part.c.done, part.c.failed, part.c.resubmitted, part.c.seconds, part.c.squares)
    row = conn.execute(select(*columns)).one()
    completed = conn.execute(text("SELECT coalesce(sum(tasks), 0) FROM completions")).scalar_one()
    return {**row._mapping, "completed": completed}


def test_a_result_of_the_first_attempt_never_touches_the_second(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        (first,) = submitted_jobs(conn, campaign, cluster, 1)
        late = the_end(conn, first)
        end_jobs(conn, cluster, [first], Outcome.LOST, exit_code=None)
        (second,) = submitted_jobs(conn, campaign, cluster, 1)
        before = totals(conn)
        assert put_ended(conn, cluster, *late) == []
        assert totals(conn) == before
        assert conn.execute(select(Task.c.state)).scalar_one() is TaskState.ASSIGNED
        assert [job.job_id for job in list_watched(conn, cluster, 0.0)] == [second]
        assert conn.execute(select(Job.c.outcome).where(Job.c.id == first)).scalar_one() is Outcome.LOST
        assert examine(conn) == []


def test_an_end_is_counted_once_however_often_it_is_told(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 3), cluster, 3)
        told = [the_end(conn, jobs[0]), the_end(conn, jobs[1]), the_end(conn, jobs[2], Outcome.LOST, WAITING)]
        once = None
        for _ in range(3):
            for attempts, ended in told:
                put_ended(conn, cluster, attempts, ended)
            once = once or totals(conn)
        assert totals(conn) == once
        assert once == {"done": 2, "failed": 0, "resubmitted": 1, "seconds": 8.0, "squares": 32.0, "completed": 2}
        assert conn.execute(select(Completion.c.minute, Completion.c.tasks)).all() == [(NOON, 2)]
        assert sorted(conn.scalars(select(Task.c.deaths))) == [0, 0, 1]
        assert examine(conn) == []


def test_a_step_that_runs_again_is_not_ended_by_its_old_job(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        conn.execute(
            text(
                "INSERT INTO jobs (campaign_id, cluster_id, kind, state, width, walltime, created_at)"
                " VALUES (:campaign, :cluster, 'prologue', 'to_launch', 1, 9, now())"
            ),
            {"campaign": campaign, "cluster": cluster},
        )
        job = conn.execute(select(Job.c.id)).scalar_one()
        conn.execute(update(CampaignCluster).values(prologue=StepState.RUNNING))
        ended = [EndedJob(job, campaign, JobKind.PROLOGUE, Outcome.FAILURE, 1, "", "", None)]
        for told in (StepState.FAILED, StepState.RUNNING):
            put_ended(conn, cluster, [], ended)
            assert conn.execute(select(CampaignCluster.c.prologue)).scalar_one() is told
            conn.execute(update(CampaignCluster).values(prologue=StepState.RUNNING))  # resubmitted, and launched


@pytest.mark.parametrize(
    ("outcome", "verdict", "expected"),
    [
        (Outcome.PREEMPTED, WAITING, TaskState.CANCELLED),
        (Outcome.FAILURE, TaskVerdict(TaskState.FAILED, 10, failures=1), TaskState.CANCELLED),
        (Outcome.SUCCESS, DONE, TaskState.DONE),
    ],
)
def test_a_task_of_a_cancelled_campaign_never_waits_again(
    database: Database, outcome: Outcome, verdict: TaskVerdict, expected: TaskState
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        (job,) = submitted_jobs(conn, campaign, cluster, 1)
        cancel_campaign(conn, campaign, ALICE)
        put_ended(conn, cluster, *the_end(conn, job, outcome, verdict))
        assert conn.execute(select(Task.c.state)).scalar_one() is expected
        assert examine(conn) == []


def test_an_ended_job_is_neither_seen_nor_missed_again(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job,) = submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
        kill_job(conn, job, ALICE)
        end_jobs(conn, cluster, [job])
        move_seen(conn, [ListedJob(job, JobState.RUNNING, "r9", "n9")])
        mark_missing(conn, [job])
        row = conn.execute(select(Job.c.state, Job.c.remote_id, Job.c.missing_since)).one()
        assert tuple(row) == (JobState.ENDED, "r1", None)
        assert not conn.execute(select(KillRequest.c.is_open)).scalar_one()
        assert list_attempts(conn, [job]) == []


def test_a_job_that_is_seen_again_is_no_longer_missing_and_one_that_waits_again_has_not_started(
    database: Database,
) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job,) = submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
        mark_missing(conn, [job])
        run_jobs(conn, [job])
        assert conn.execute(select(Job.c.missing_since, Job.c.started_at)).one() == (None, NOON)
        move_seen(conn, [ListedJob(job, JobState.SUBMITTED, "r1", "")])
        assert conn.execute(select(Job.c.state, Job.c.started_at)).one() == (JobState.SUBMITTED, None)


def test_progress_tells_totals_and_what_is_there_now(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 6)
        jobs = submitted_jobs(conn, campaign, cluster, 5)
        run_jobs(conn, jobs[:2])
        end_jobs(conn, cluster, jobs[4:])
        (part,) = list_progress(conn, 3600.0)
        assert (part.done, part.seconds, part.squares) == (1, 10.0, 100.0)
        assert (part.running, part.waiting, part.remaining, part.window_tasks) == (2, 2, 5, 1)
        cancel_campaign(conn, campaign, ALICE)
        assert list_progress(conn, 3600.0) == []
