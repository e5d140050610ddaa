"""Two attempts at one task: exactly one wins, whatever happens at the same time, and the other costs nothing."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select, text, update

from cigri.database import Database
from cigri.flow.archive import archive_campaign
from cigri.flow.cancellations import kill_job
from cigri.flow.kill_requests import claim_due_kills
from cigri.flow.launches import NewJob, put_replicas
from cigri.flow.tasks import WaitingTask, take_waiting
from cigri.flow.views.cluster_demands import list_cluster_demands, list_pending_campaigns
from cigri.flow.views.invariants import examine
from cigri.flow.views.jobs import find_task, list_tasks
from cigri.flow.views.replica_statistics import count_replicas
from cigri.flow.views.stragglers import Straggler, list_stragglers, sum_wasted_core_seconds
from cigri.flow.withdrawals import put_back_unlaunched
from cigri.settings.sections import JobSettings
from cigri.states import JobState, KillReason, Outcome, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, launch_jobs, run_jobs, set_time, submitted_jobs
from tests.waiting import looks

pytestmark = pytest.mark.noon

LATER = NOON + timedelta(seconds=60)
WAITERS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def a_replicated(conn: Connection, tasks: int = 1, *, most: int = 1) -> int:
    """A campaign on two clusters, dahu and luke, whose tasks are in jobs on the first."""
    a_cluster(conn), a_cluster(conn, "luke")
    campaign = a_campaign(conn, tasks, clusters=("dahu", "luke"), max_replicas=most)
    run_jobs(conn, submitted_jobs(conn, campaign, 1, tasks))
    return campaign


def begin(conn: Connection, campaign: int, cluster: int, tasks: Sequence[int]) -> int:
    """Replicas of these tasks there, to be launched."""
    found = conn.execute(select(Task.c.id, Task.c.bucket_id, Task.c.attempts).where(Task.c.id.in_(tasks)))
    new = [NewJob(cluster, 1, 3600, [WaitingTask(*row, 0)]) for row in found]
    return put_replicas(conn, campaign, new)


def a_pair(conn: Connection) -> tuple[int, int]:
    """Two jobs, on dahu and on luke, that run the same task."""
    campaign = a_replicated(conn)
    assert begin(conn, campaign, 2, [1]) == 1
    (replica,) = launch_jobs(conn, 2, 1)
    run_jobs(conn, [replica])
    return 1, replica


def standing(conn: Connection) -> tuple[TaskState, int, int]:
    state, failures, deaths = conn.execute(select(Task.c.state, Task.c.failures, Task.c.deaths)).one()
    return state, failures, deaths


def outcomes(conn: Connection) -> list[Outcome | None]:
    return list(conn.scalars(select(Attempt.c.outcome).order_by(Attempt.c.number)))


def kills(conn: Connection) -> dict[int, KillReason]:
    found = conn.execute(select(KillRequest.c.job_id, KillRequest.c.reason).where(KillRequest.c.is_open))
    return {job_id: reason for job_id, reason in found}


@pytest.mark.parametrize("winner", [1, 2])
@pytest.mark.parametrize("fate", [Outcome.SUCCESS, Outcome.FAILURE, Outcome.PREEMPTED, Outcome.SUPERSEDED])
def test_the_first_success_wins_and_the_other_is_killed_whatever_it_says_then(
    database: Database, winner: int, fate: Outcome
) -> None:
    with database.begin() as conn:
        a_pair(conn)
        loser = 3 - winner
        end_jobs(conn, winner, [winner])
        assert standing(conn) == (TaskState.DONE, 0, 0)
        assert kills(conn) == {loser: KillReason.SUPERSEDED}
        assert [order.job_id for order in claim_due_kills(conn, loser, 60.0)] == [loser]
        assert examine(conn) == []
        end_jobs(conn, loser, [loser], fate, exit_code=1)
        assert standing(conn) == (TaskState.DONE, 0, 0)
        expected = {winner: Outcome.SUCCESS, loser: Outcome.SUPERSEDED}
        assert outcomes(conn) == [expected[1], expected[2]]
        part = CampaignCluster
        totals = select(part.c.cluster_id, part.c.done, part.c.failed, part.c.resubmitted)
        assert {row[0]: row[1:] for row in conn.execute(totals)} == {winner: (1, 0, 0), loser: (0, 0, 0)}
        assert kills(conn) == {}
        assert examine(conn) == []


def test_of_two_successes_at_the_same_time_exactly_one_is_taken(database: Database) -> None:
    with database.begin() as conn:
        a_pair(conn)

    def second() -> None:
        with database.begin() as conn:
            end_jobs(conn, 2, [2])

    with ThreadPoolExecutor(1) as pool:
        with database.begin() as first:
            end_jobs(first, 1, [1])
            other = pool.submit(second)
            until_it_waits(database)
        other.result(20)
    with database.begin() as conn:
        assert outcomes(conn) == [Outcome.SUCCESS, Outcome.SUPERSEDED]
        assert conn.scalars(select(CampaignCluster.c.done).order_by(CampaignCluster.c.cluster_id)).all() == [1, 0]
        assert kills(conn) == {}
        assert examine(conn) == []


def until_it_waits(database: Database) -> None:
    for _ in looks(what="somebody waits for a lock"):
        with database.begin() as conn:
            if conn.execute(text(WAITERS)).scalar_one():
                return


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize(
    ("fate", "expected"),
    [(Outcome.FAILURE, (TaskState.FAILED, 1, 0)), (Outcome.PREEMPTED, (TaskState.WAITING, 0, 1))],
)
def test_what_ends_badly_while_another_lives_costs_nothing(
    database: Database, first: int, fate: Outcome, expected: tuple[TaskState, int, int]
) -> None:
    with database.begin() as conn:
        a_pair(conn)
        last = 3 - first
        end_jobs(conn, first, [first], fate, exit_code=1)
        assert standing(conn) == (TaskState.ASSIGNED, 0, 0)
        assert kills(conn) == {}
        assert examine(conn) == []
        end_jobs(conn, last, [last], fate, exit_code=1)
        assert standing(conn) == expected
        assert examine(conn) == []


def test_a_task_whose_only_attempt_is_a_replica_may_get_another(database: Database) -> None:
    with database.begin() as conn:
        a_pair(conn)
        end_jobs(conn, 1, [1], Outcome.PREEMPTED)
        assert begin(conn, 1, 1, [1]) == 1
        (third,) = launch_jobs(conn, 1, 1)
        end_jobs(conn, 1, [third])
        assert standing(conn) == (TaskState.DONE, 0, 0)
        assert kills(conn) == {2: KillReason.SUPERSEDED}


def test_a_replica_begun_while_the_end_of_the_other_is_settled_is_left_out(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn)
    with database.begin() as settling:
        end_jobs(settling, 1, [1])
        with database.begin() as conn:
            assert begin(conn, campaign, 2, [1]) == 0
    with database.begin() as conn:
        assert begin(conn, campaign, 2, [1]) == 0
        assert examine(conn) == []


def test_an_end_that_is_settled_while_a_replica_is_begun_finds_it(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn)

    def die() -> None:
        with database.begin() as conn:
            end_jobs(conn, 1, [1], Outcome.PREEMPTED)

    with ThreadPoolExecutor(1) as pool:
        with database.begin() as conn:
            assert begin(conn, campaign, 2, [1]) == 1
            other = pool.submit(die)
            until_it_waits(database)
        other.result(20)
    with database.begin() as conn:
        assert standing(conn) == (TaskState.ASSIGNED, 0, 0)
        assert examine(conn) == []


def test_a_task_that_got_another_attempt_meanwhile_is_left_out(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn)
        stale = NewJob(2, 1, 3600, [WaitingTask(1, 1, 1, 0)])
        assert put_replicas(conn, campaign, [stale]) == 1
        assert put_replicas(conn, campaign, [stale]) == 0


def test_replicas_are_under_the_ceilings_too(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn, 3)
        conn.execute(update(CampaignCluster).where(CampaignCluster.c.cluster_id == 2).values(max_jobs=2))
        assert begin(conn, campaign, 2, [1, 2, 3]) == 2


def test_a_loser_that_was_never_launched_is_given_back(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn)
        begin(conn, campaign, 2, [1])
        end_jobs(conn, 1, [1])
        assert put_back_unlaunched(conn, JobSettings()) == 1
        assert outcomes(conn) == [Outcome.SUCCESS, Outcome.SUPERSEDED]
        assert conn.scalars(select(Job.c.state)).all() == [JobState.ENDED] * 2
        assert kills(conn) == {}
        assert examine(conn) == []


def test_a_job_is_killed_once_all_that_it_carries_is_over(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 2, clusters=("dahu", "luke"), max_replicas=1)
        (both,) = submitted_jobs(conn, campaign, 1, 1, tasks=2)
        begin(conn, campaign, 2, [1, 2])
        first, second = launch_jobs(conn, 2, 2)
        end_jobs(conn, 2, [first])
        assert kills(conn) == {}
        end_jobs(conn, 2, [second])
        assert kills(conn) == {both: KillReason.SUPERSEDED}
        assert examine(conn) == []


@pytest.mark.parametrize("is_launched", [True, False])
def test_who_kills_one_attempt_ends_the_task(database: Database, is_launched: bool) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn)
        begin(conn, campaign, 2, [1])
        if is_launched:
            launch_jobs(conn, 2, 1)
        kill_job(conn, 2, ALICE)
        if is_launched:
            end_jobs(conn, 2, [2], Outcome.KILLED, exit_code=None)
        assert standing(conn)[0] is TaskState.CANCELLED
        assert kills(conn) == {1: KillReason.SUPERSEDED}
        end_jobs(conn, 1, [1], Outcome.SUPERSEDED)
        assert outcomes(conn) == [Outcome.SUPERSEDED, Outcome.KILLED]
        assert examine(conn) == []


def test_what_is_shown_and_kept_of_a_task_is_the_attempt_that_won(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn)
        begin(conn, campaign, 2, [1])
        (replica,) = launch_jobs(conn, 2, 1)
        end_jobs(conn, 1, [1], seconds=30.0)
        end_jobs(conn, 2, [replica], Outcome.SUPERSEDED, exit_code=None, seconds=7.0)
        task = find_task(conn, 1)
        assert task is not None
        assert (task.job_id, task.outcome, task.seconds) == (1, Outcome.SUCCESS, 30.0)
        assert count_replicas(conn, campaign) == (1, 0, 0, 7.0)
        assert sum_wasted_core_seconds(conn, campaign) == 7.0
        archive_campaign(conn, campaign)
        (kept,) = list_tasks(conn, campaign, 0, 9)
        assert (kept.attempts, kept.cluster, kept.seconds) == (2, "dahu", 30.0)


def test_live_attempts_are_read_with_what_they_have_done(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn), a_cluster(conn, "luke")
        campaign = a_campaign(conn, 5, clusters=("dahu", "luke"), max_replicas=1)
        (three,) = submitted_jobs(conn, campaign, 1, 1, tasks=3)
        run_jobs(conn, [three])
        submitted_jobs(conn, campaign, 1, 1)
        begin(conn, campaign, 2, [4])
        conn.execute(update(Attempt).where(Attempt.c.task_id == 1).values(outcome=Outcome.SUCCESS, seconds=20.0))
        conn.execute(update(Task).where(Task.c.id == 1).values(state=TaskState.DONE))
        conn.execute(text("UPDATE clusters SET failures = 1, blocked_until = now() WHERE id = 2"))
        set_time(conn, LATER)
        assert list_stragglers(conn, campaign, 9) == [
            Straggler(4, 1, 2, 2, True, None, None, 0, True),
            Straggler(2, 1, 1, 1, False, 40.0, 60.0, 0, False),
            Straggler(3, 1, 1, 1, False, 0.0, 60.0, 1, False),
            Straggler(4, 1, 2, 1, False, None, 60.0, 0, False),
        ]
        assert len(list_stragglers(conn, campaign, 2)) == 2


def test_what_was_tried_before_goes_before_what_was_not(database: Database) -> None:
    """And all of it before replicas, which only get what is left."""
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 5)
        conn.execute(update(CampaignCluster).values(settings={"walltime": 60, "retries": 1}))
        jobs = submitted_jobs(conn, campaign, 1, 3)
        end_jobs(conn, 1, jobs[1:2], Outcome.FAILURE, exit_code=1)
        end_jobs(conn, 1, jobs[2:], Outcome.PREEMPTED)
        assert [task.id for task in take_waiting(conn, campaign, 9)] == [3, 2, 4, 5]


def test_a_campaign_near_its_end_wants_what_is_left_over(database: Database) -> None:
    with database.begin() as conn:
        campaign = a_replicated(conn, 3, most=2)
        a_campaign(conn, 2, clusters=("luke",))
        wants = list_cluster_demands(conn, 10, 60.0)
        assert [(want.campaign_id, want.waiting, want.replicable, want.waits) for want in wants] == [
            (campaign, 0, 6, False),
            (campaign, 0, 6, False),
            (2, 2, 0, True),
        ]
        assert [
            claim.campaign_id for claim in list_pending_campaigns(conn, [want for want in wants if want.waits])
        ] == [2]
        conn.execute(text("UPDATE campaigns SET max_replicas = NULL, replica_budget = NULL"))
        assert {want.campaign_id for want in list_cluster_demands(conn, 10, 60.0)} == {2}
