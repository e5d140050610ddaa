"""Core-seconds of a job: how long it ran by one clock, whatever the clocks of nodes say and whenever we see it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

import pytest
from sqlalchemy import Connection, select, text

from cigri.database import Database
from cigri.flow.accounting import list_accounted
from cigri.flow.ends import EndedAttempt, EndedJob, put_ended
from cigri.flow.fair_share_usage import list_usage
from cigri.flow.live_jobs import ListedJob, move_seen
from cigri.flow.outcome_counts import list_end_counts
from cigri.flow.standstill import CLOCKS_SLACK
from cigri.formats.units import DAY, HOUR
from cigri.lifecycle.standstill import shared_out
from cigri.lifecycle.verdicts import TaskVerdict
from cigri.states import JobKind, JobState, Outcome, TaskState
from cigri.tables.jobs import Attempt, Job
from tests.factories import NOON, a_campaign, a_cluster, set_time, submitted_jobs

pytestmark = pytest.mark.noon

DONE, FAILED = TaskVerdict(TaskState.DONE, 10), TaskVerdict(TaskState.FAILED, 10, failures=1)


class Told(NamedTuple):
    """A task's record: its start, in seconds from noon by the node's clock, its seconds, and how it ended."""

    start: float | None
    seconds: float | None
    outcome: Outcome = Outcome.SUCCESS


def at(conn: Connection, seconds: float) -> None:
    set_time(conn, NOON + timedelta(seconds=seconds))


def a_job(conn: Connection, tasks: int = 1) -> int:
    """In the queue from noon on, of two cores."""
    a_cluster(conn)
    (job,) = submitted_jobs(conn, a_campaign(conn, tasks, user="alice"), 1, 1, tasks=tasks)
    conn.execute(text("UPDATE jobs SET width = 2"))
    conn.execute(text("UPDATE campaign_clusters SET width = 2"))
    return job


def is_seen(conn: Connection, job: int, seconds: float, *, is_halted: bool = False) -> None:
    """Running, by a visit so many seconds after noon."""
    at(conn, seconds)
    move_seen(conn, [ListedJob(job, JobState.RUNNING, "r1", "n1", is_halted)])
    is_visited(conn, seconds)


def is_visited(conn: Connection, seconds: float) -> None:
    at(conn, seconds)
    conn.execute(text("UPDATE clusters SET visited_at = now()"))


def ends(conn: Connection, job: int, seconds: float, told: Sequence[Told], lasted: float | None = None) -> float | None:
    """A visit so many seconds after noon sees that it has ended; for how many seconds it counts."""
    at(conn, seconds)
    row = Attempt.c
    live = conn.execute(select(row.task_id, row.number).where(row.job_id == job).order_by(row.position)).all()
    attempts = [
        EndedAttempt(
            1,
            job,
            task,
            number,
            one.outcome,
            0,
            None if one.start is None else NOON.timestamp() + one.start,
            one.seconds,
            DONE if one.outcome is Outcome.SUCCESS else FAILED,
        )
        for (task, number), one in zip(live, told, strict=True)
    ]
    worst = next((one.outcome for one in told if one.outcome is not Outcome.SUCCESS), Outcome.SUCCESS)
    put_ended(conn, 1, attempts, [EndedJob(job, 1, JobKind.TASKS, worst, 0, "n1", "", None, lasted)])
    ran = conn.execute(select(Job.c.ran_seconds)).scalar_one()
    if ran is not None:
        (entry,) = list_accounted(conn, 3)
        assert entry.well + entry.lost == pytest.approx(2 * ran)
        assert sum(usage.used for usage in list_usage(conn, 1e9).values()) == pytest.approx(2 * ran)
        assert sum(count.core_seconds for count in list_end_counts(conn)) == pytest.approx(2 * ran)
    return ran


@pytest.mark.parametrize("skew", [0, -HOUR, HOUR, -3 * DAY, 23 * HOUR])
def test_a_job_counts_what_its_record_says_however_late_it_is_seen_and_wrong_its_clock_is(
    skew: float, database: Database
) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 5)
        assert ends(conn, job, 120, [Told(3 + skew, 25)]) == 25
        started = conn.execute(select(Job.c.started_at)).scalar_one()
    assert started is not None
    assert NOON <= started <= NOON + timedelta(seconds=120), "within what we saw"


def test_a_forged_record_makes_no_job_free(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 10)
        is_visited(conn, 1010)
        assert ends(conn, job, 1020, [Told(0, 0)]) == 1000 - CLOCKS_SLACK


def test_a_job_never_counts_longer_than_since_it_was_submitted(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        assert ends(conn, job, 100, [Told(0, 5000)]) == 100


def test_the_time_between_the_tasks_of_a_job_counts(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn, tasks=3)
        assert ends(conn, job, 100, [Told(10, 10), Told(20, 10), Told(50, 10)]) == 50


def test_tasks_side_by_side_count_once(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn, tasks=2)
        assert ends(conn, job, 100, [Told(10, 30), Told(10, 20)]) == 30


def test_what_a_job_stood_still_does_not_count(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 0)
        is_seen(conn, job, 100, is_halted=True)
        is_seen(conn, job, 400)
        assert ends(conn, job, 500, [Told(0, 490)]) == 190


def test_what_it_was_held_in_the_queue_is_no_time_of_its_own(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        move_seen(conn, [ListedJob(job, JobState.SUBMITTED, "r1", "", is_halted=True)])
        at(conn, 300)
        move_seen(conn, [ListedJob(job, JobState.SUBMITTED, "r1", "")])
        assert ends(conn, job, 400, [Told(310, 50)]) == 50


def test_a_job_without_a_record_counts_as_long_as_it_was_seen(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 20)
        is_visited(conn, 320)
        assert ends(conn, job, 900, [Told(None, None, Outcome.KILLED)]) == 300


def test_the_word_of_the_batch_system_goes_before_what_was_seen(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 20)
        is_visited(conn, 320)
        assert ends(conn, job, 900, [Told(None, None, Outcome.KILLED)], lasted=345) == 345


def test_a_job_that_nobody_saw_and_tells_nothing_counts_nothing(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        assert ends(conn, job, 900, [Told(None, None, Outcome.LOST)]) is None
        assert conn.execute(select(Job.c.started_at)).scalar_one() is None
        assert list_accounted(conn, 3) == []


def test_a_job_of_several_tasks_counts_by_its_tasks(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn, tasks=4)
        failed, killed = Told(30, 10, Outcome.FAILURE), Told(None, None, Outcome.PREEMPTED)
        assert ends(conn, job, 100, [Told(0, 15), Told(15, 15), failed, killed], lasted=50) == 50
        (entry,) = list_accounted(conn, 1)
        assert (entry.jobs, entry.well, entry.lost) == (1, 2 * 30, 2 * (10 + 10))


def test_a_task_that_never_ran_has_no_part_of_its_job(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn, tasks=2)
        assert ends(conn, job, 100, [Told(0, 40), Told(None, None, Outcome.WITHDRAWN)]) == 40
        (entry,) = list_accounted(conn, 1)
        assert (entry.jobs, entry.well, entry.lost) == (1, 2 * 40, 0)


class Stood(NamedTuple):
    """Seconds of an attempt, and those for which it stood still."""

    seconds: float | None
    halted: float


def stood(conn: Connection) -> list[Stood]:
    columns = Attempt.c.seconds, Attempt.c.halted_seconds
    return [Stood(seconds, halted) for seconds, halted in conn.execute(select(*columns).order_by(Attempt.c.position))]


def done_seconds(conn: Connection) -> float:
    return float(conn.execute(text("SELECT seconds FROM campaign_clusters")).scalar_one())


def test_what_a_task_stood_still_counts_neither_in_its_duration_nor_in_forecasts(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 0)
        is_seen(conn, job, 5, is_halted=True)
        is_seen(conn, job, 189)
        assert ends(conn, job, 210, [Told(0, 204)]) == 20
        assert stood(conn) == [Stood(20, 184)]
        assert done_seconds(conn) == 20, "forecasts are made of this"
        assert conn.execute(text("SELECT seconds FROM last_durations")).scalars().all() == [20]


def test_it_stood_still_from_when_it_was_told_to_until_it_was_told_to_go_on(database: Database) -> None:
    told = "INSERT INTO halts (job_id, is_wanted, state, sent_at, tries) VALUES (:job, :is_wanted, 'running', now(), 1)"
    with database.begin() as conn:
        job = a_job(conn)
        is_seen(conn, job, 0)
        at(conn, 5)
        conn.execute(text(told), {"job": job, "is_wanted": True})
        is_seen(conn, job, 15, is_halted=True)
        at(conn, 105)
        conn.execute(text("DELETE FROM halts"))
        conn.execute(text(told), {"job": job, "is_wanted": False})
        assert ends(conn, job, 135, [Told(0, 120)]) == 20, "it was not seen to run again"
        assert stood(conn) == [Stood(20, 100)]


def test_of_tasks_one_after_the_other_the_one_that_stood_still_is_told_so(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn, tasks=3)
        is_seen(conn, job, 0)
        is_seen(conn, job, 5, is_halted=True)
        is_seen(conn, job, 100)
        assert ends(conn, job, 130, [Told(0, 3), Told(3, 103), Told(106, 4)]) == 15
        assert stood(conn) == [Stood(3, 0), Stood(8, 95), Stood(4, 0)]


def test_what_ended_before_its_job_was_suspended_did_not_stand_still(database: Database) -> None:
    with database.begin() as conn:
        job = a_job(conn, tasks=2)
        is_seen(conn, job, 0)
        is_seen(conn, job, 10, is_halted=True)
        at(conn, 20)
        (first, second) = conn.execute(select(Attempt.c.task_id).order_by(Attempt.c.position)).scalars()
        noon = NOON.timestamp()
        put_ended(conn, 1, [EndedAttempt(1, job, first, 1, Outcome.SUCCESS, 0, noon, 8.0, DONE)], [])
        is_seen(conn, job, 60)
        done = EndedAttempt(1, job, second, 1, Outcome.SUCCESS, 0, noon + 8, 57.0, DONE)
        put_ended(conn, 1, [done], [EndedJob(job, 1, JobKind.TASKS, Outcome.SUCCESS, 0, "n1", "", None)])
        assert stood(conn) == [Stood(8, 0), Stood(7, 50)]


@pytest.mark.parametrize(
    ("stands", "durations", "shares"),
    [
        ((0, 1, 0), [5, 6], [0, 0]),
        ((50, 1, 50), [60, 60], [0, 0]),
        ((50, 1, 10), [60, 60], [40, 0]),
        ((50, 2, 0), [3, 60, 70], [0, 50, 50]),
        ((50, 1, 0), [20], [20]),
        ((50, 1, 0), [], []),
    ],
)
def test_who_stood_still_lasted_at_least_as_long(
    stands: tuple[float, int, float], durations: list[float], shares: list[float]
) -> None:
    assert shared_out(*stands, durations) == shares
