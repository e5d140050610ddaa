"""A user pauses, resumes and cancels campaigns and kills jobs; the sums stay right."""

import pytest
from sqlalchemy import Connection, select, text, update

from cigri.database import Database
from cigri.errors import CigriError, NotFound
from cigri.flow.batches import put_batch
from cigri.flow.campaigns import cancel_campaign, close_campaigns, own_campaign
from cigri.flow.cancellations import count_remaining, kill_job
from cigri.flow.grid_identity import grid_key
from cigri.flow.holds import hold_campaign, resume_campaign
from cigri.flow.kill_requests import claim_due_kills, request_kills
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.live_jobs import mark_missing
from cigri.flow.prologues_and_epilogues import put_prologues
from cigri.flow.tasks import take_waiting
from cigri.flow.views.invariants import examine
from cigri.identity.callers import AccessScope, Caller
from cigri.states import CampaignState, JobState, KillReason, Outcome, StepState, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.grid import Event
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Job
from tests.callers import ALICE, BOB, ROOT
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs

MANY = 70_000  # more than a statement may have parameters
RUNNING, ENDED, CANCELLED = CampaignState.IN_TREATMENT, CampaignState.TERMINATED, CampaignState.CANCELLED


@pytest.mark.parametrize("is_held", [False, True], ids=["", "held"])
@pytest.mark.parametrize(("before", "allowed"), [(RUNNING, True), (ENDED, False), (CANCELLED, False)])
def test_only_an_open_campaign_is_cancelled(
    database: Database, before: CampaignState, allowed: bool, is_held: bool
) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 0 if before is ENDED else 1)
        if is_held:
            hold_campaign(conn, campaign, ALICE)
        if before is ENDED:
            close_campaigns(conn)
        elif before is CANCELLED:
            cancel_campaign(conn, campaign, ALICE)
        events = _count_events(conn)
        assert cancel_campaign(conn, campaign, ALICE) is allowed
        assert own_campaign(conn, campaign, ALICE) is (CANCELLED if allowed else before)
        assert _count_events(conn) - events == int(allowed)
        assert examine(conn) == []
        if is_held:
            with pytest.raises(CigriError, match="there is nothing to resume"):
                resume_campaign(conn, campaign, ALICE)


def test_cancelling_ends_what_is_here_and_asks_for_what_is_there(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign, other = a_campaign(conn, 12), a_campaign(conn, 3)
        theirs = submitted_jobs(conn, other, cluster, 1)
        done, failed, queued, running = submitted_jobs(conn, campaign, cluster, 4)
        end_jobs(conn, cluster, [done])
        end_jobs(conn, cluster, [failed], Outcome.FAILURE, exit_code=1)
        run_jobs(conn, [running])
        launching = _launching(conn, campaign, cluster)
        _to_launch(conn, campaign, cluster, jobs=2, tasks=2)
        assert cancel_campaign(conn, campaign, ALICE)
    with database.begin() as conn:
        tasks, live = count_remaining(conn, campaign)
        assert tasks == {TaskState.DONE: 1, TaskState.ASSIGNED: 3, TaskState.CANCELLED: 8}
        assert live == 3
        wishes = conn.execute(
            select(KillRequest.c.job_id, KillRequest.c.reason, KillRequest.c.asked_by).order_by(KillRequest.c.job_id)
        ).all()
        assert [tuple(wish) for wish in wishes] == [
            (job, KillReason.USER, "alice") for job in (queued, running, launching)
        ]
        assert conn.scalars(select(Event.c.code).where(Event.c.closed_at.is_(None))).all() == []
        assert examine(conn) == []
        end_jobs(conn, cluster, [queued, running], Outcome.KILLED)
        assert count_remaining(conn, campaign)[0] == {
            TaskState.DONE: 1,
            TaskState.ASSIGNED: 1,
            TaskState.CANCELLED: 10,
        }
        assert count_remaining(conn, other) == ({TaskState.WAITING: 2, TaskState.ASSIGNED: 1}, len(theirs))
        assert examine(conn) == []


def test_a_campaign_with_very_many_jobs_can_be_cancelled(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        _to_launch(conn, campaign, cluster, jobs=1, tasks=1)
        copied = "campaign_id, cluster_id, bucket_id, kind, state, width, walltime, created_at"
        copy = f"INSERT INTO jobs ({copied}) SELECT {copied} FROM jobs, generate_series(2, {MANY})"
        conn.execute(text(copy))
        assert cancel_campaign(conn, campaign, ALICE)
        assert count_remaining(conn, campaign) == ({TaskState.CANCELLED: 1}, 0)
        assert examine(conn) == []


def test_a_prologue_that_was_never_launched_does_not_run_after_a_cancel(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        conn.execute(update(CampaignCluster).values(prologue=StepState.WAITING))
        assert put_prologues(conn) == 1
        cancel_campaign(conn, campaign, ALICE)
        assert list_launches(conn, cluster, 10, 10) == []
        assert conn.execute(select(CampaignCluster.c.prologue)).scalar_one() is StepState.FAILED
        assert count_remaining(conn, campaign) == ({TaskState.CANCELLED: 1}, 0)


def test_no_kill_is_sent_for_a_job_that_is_missing_as_its_remote_id_may_be_another_jobs(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        missing, listed = submitted_jobs(conn, campaign, cluster, 2)
        mark_missing(conn, [missing])
        for job in (missing, listed):
            assert kill_job(conn, job, ALICE)
        assert [order.job_id for order in claim_due_kills(conn, cluster, 60.0)] == [listed]
        run_jobs(conn, [missing])  # it is listed again, by whatever id
        assert [order.job_id for order in claim_due_kills(conn, cluster, 60.0)] == [missing]


def test_a_killed_job_takes_its_tasks_with_it(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 5)
        (queued,) = submitted_jobs(conn, campaign, cluster, 1)
        (waiting,) = _to_launch(conn, campaign, cluster, jobs=1, tasks=2)
        assert kill_job(conn, queued, ALICE)
        assert [order.job_id for order in claim_due_kills(conn, cluster, 60.0)] == [queued]
        assert kill_job(conn, waiting, ALICE)
        assert count_remaining(conn, campaign)[0] == {
            TaskState.WAITING: 2,
            TaskState.ASSIGNED: 1,
            TaskState.CANCELLED: 2,
        }
        assert not kill_job(conn, waiting, ALICE)
        row = conn.execute(select(Job.c.state, Job.c.outcome).where(Job.c.id == waiting)).one()
        assert tuple(row) == (JobState.ENDED, Outcome.KILLED)
        assert examine(conn) == []


def test_a_job_that_dies_before_it_was_sent_leaves_no_wish_behind_and_counts_as_nothing(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        (waiting,) = _to_launch(conn, campaign, cluster, jobs=1, tasks=1)
        request_kills(conn, [waiting], KillReason.SUPERSEDED, "cigri")
        assert kill_job(conn, waiting, ALICE)
        assert conn.scalars(select(KillRequest.c.is_open)).all() == [False]
        part = CampaignCluster.c
        totals = select(part.done, part.failed, part.resubmitted)
        assert tuple(conn.execute(totals).one()) == (0, 0, 0)


def test_tasks_of_a_killed_job_do_not_count_as_resubmitted(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        killed, preempted = submitted_jobs(conn, campaign, cluster, 2)
        end_jobs(conn, cluster, [killed], Outcome.KILLED)
        end_jobs(conn, cluster, [preempted], Outcome.PREEMPTED)
        assert conn.scalar(select(CampaignCluster.c.resubmitted)) == 1


def test_nobody_steers_the_campaigns_of_somebody_else(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 1)
        (job,) = submitted_jobs(conn, campaign, cluster, 1)
        for change in (hold_campaign, cancel_campaign):
            with pytest.raises(NotFound, match=f"you have no campaign {campaign}"):
                change(conn, campaign, BOB)
        reader = Caller("carol", is_operator=True, scope=AccessScope.READ)
        for caller, wanted in ((BOB, job), (reader, job), (ALICE, job + 1)):
            with pytest.raises(NotFound, match=f"you have no job {wanted}"):
                kill_job(conn, wanted, caller)
        assert own_campaign(conn, campaign, ALICE) is RUNNING
        assert conn.scalars(select(KillRequest.c.job_id)).all() == []
        assert kill_job(conn, job, ROOT)
        hold_campaign(conn, campaign, Caller("carol", is_operator=True))


def _to_launch(conn: Connection, campaign: int, cluster: int, *, jobs: int, tasks: int) -> list[int]:
    waiting = take_waiting(conn, campaign, jobs * tasks)
    put_jobs(conn, campaign, [NewJob(cluster, 1, 60, waiting[i * tasks : (i + 1) * tasks]) for i in range(jobs)])
    chosen = select(Job.c.id).where(Job.c.campaign_id == campaign, Job.c.state == JobState.TO_LAUNCH)
    return list(conn.scalars(chosen.order_by(Job.c.id)))


def _launching(conn: Connection, campaign: int, cluster: int) -> int:
    """A job whose batch is committed and not yet submitted."""
    (job,) = _to_launch(conn, campaign, cluster, jobs=1, tasks=1)
    (launch,) = list_launches(conn, cluster, 1, 1)
    assert put_batch(conn, launch, cluster, grid_key(conn)) is not None
    return job


def _count_events(conn: Connection) -> int:
    return len(conn.scalars(select(Event.c.id)).all())
