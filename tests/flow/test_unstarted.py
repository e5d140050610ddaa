"""Running jobs whose start is looked for: which, when, and what becomes of them when it is found."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.flow.kill_requests import claim_due_kills, request_kills
from cigri.flow.live_jobs import (
    ListedJob,
    UnstartedJobs,
    count_unstarted,
    list_watched,
    mark_begun,
    mark_unstarted,
    move_seen,
)
from cigri.flow.views.unwanted_jobs import NEVER_STARTED_SLACK, UnwantedJob, WaitLimits, list_unwanted
from cigri.states import JobState, KillReason
from tests.factories import NOON, a_campaign, a_cluster, run_jobs, set_time, submitted_jobs

WALLTIME = 3600
LAG = 120.0


@pytest.fixture
def jobs(database: Database) -> list[int]:
    """Three jobs of a campaign, seen to run since NOON."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        set_time(conn, NOON)
        ids = submitted_jobs(conn, a_campaign(conn, 3), cluster, 3)
        run_jobs(conn, ids)
    return ids


def at(conn: Connection, seconds: float) -> None:
    set_time(conn, NOON + timedelta(seconds=seconds))


def due(conn: Connection) -> list[int]:
    return [job.job_id for job in list_watched(conn, 1, LAG) if job.is_start_due]


def unwanted(conn: Connection) -> list[UnwantedJob]:
    return list_unwanted(conn, {1: (1000, 1000)}, WaitLimits(900.0, 1800.0, 5))


def test_a_start_is_looked_for_once_the_lag_is_over_and_until_it_is_found(database: Database, jobs: list[int]) -> None:
    with database.begin() as conn:
        at(conn, LAG - 1)
        assert due(conn) == []
        at(conn, LAG)
        assert due(conn) == jobs
        mark_begun(conn, jobs[:1])
        mark_unstarted(conn, jobs[1:2], "not started")
        assert due(conn) == jobs[1:]
        move_seen(conn, [ListedJob(jobs[1], JobState.RUNNING, "r2", "node-1", is_halted=True)])
        assert due(conn) == jobs[2:]


def test_what_is_requeued_is_looked_for_anew(database: Database, jobs: list[int]) -> None:
    with database.begin() as conn:
        at(conn, LAG)
        mark_unstarted(conn, jobs, "not started")
        assert count_unstarted(conn, 1, [1, 2]) == [UnstartedJobs(1, 3, "r1", "node-1")]
        move_seen(conn, [ListedJob(jobs[0], JobState.SUBMITTED, "r1", "")])
        move_seen(conn, [ListedJob(jobs[0], JobState.RUNNING, "r1", "node-2")])
        assert count_unstarted(conn, 1, [1]) == [UnstartedJobs(1, 2, "r2", "node-1")]
        assert due(conn) == jobs[1:]
        at(conn, 2 * LAG)
        assert due(conn) == jobs
        assert [job.has_begun for job in list_watched(conn, 1, LAG)] == [None, False, False]


def test_only_what_has_not_started_dies_so_soon_after_its_walltime(database: Database, jobs: list[int]) -> None:
    with database.begin() as conn:
        mark_begun(conn, jobs[:1])
        mark_unstarted(conn, jobs[1:2], "not started")
        at(conn, WALLTIME + NEVER_STARTED_SLACK - 1)
        assert unwanted(conn) == []
        at(conn, WALLTIME + NEVER_STARTED_SLACK)
        assert unwanted(conn) == [UnwantedJob(jobs[1], KillReason.NOT_STARTED)]


def test_a_start_takes_back_the_kill_that_was_not_sent(database: Database, jobs: list[int]) -> None:
    with database.begin() as conn:
        mark_unstarted(conn, jobs[:2], "not started")
        assert request_kills(conn, jobs[:1], KillReason.NOT_STARTED, "killer") == 1
        assert [kill.job_id for kill in claim_due_kills(conn, 1, 60.0)] == jobs[:1]
        assert request_kills(conn, jobs[1:2], KillReason.NOT_STARTED, "killer") == 1
        assert request_kills(conn, jobs[2:], KillReason.DRAIN, "killer") == 1
        at(conn, WALLTIME)
        mark_begun(conn, jobs)
        assert [job.kill for job in list_watched(conn, 1, LAG)] == [KillReason.NOT_STARTED, None, KillReason.DRAIN]
        ends = [job.runs_until for job in list_watched(conn, 1, LAG)]
        assert ends == [NOON + timedelta(seconds=seconds) for seconds in (2 * WALLTIME, 2 * WALLTIME, WALLTIME)]


def test_a_kill_that_was_sent_twice_in_vain_makes_a_job_undead(database: Database, jobs: list[int]) -> None:
    with database.begin() as conn:
        at(conn, 0)
        request_kills(conn, jobs[:1], KillReason.NOT_STARTED, "killer")
        for seconds, is_undead in ((0, False), (60, False), (LAG, True)):
            at(conn, seconds)
            claim_due_kills(conn, 1, 60.0)
            assert [job.is_undead for job in list_watched(conn, 1, LAG)] == [is_undead, False, False]
