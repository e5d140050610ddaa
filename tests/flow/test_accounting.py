"""Core-hours by day, user, project and cluster: each second of a job counts once, on its day."""

from datetime import timedelta
from random import Random

import pytest
from sqlalchemy import Connection, text

from cigri.api_models.metrics import AccountingEntry
from cigri.database import Database
from cigri.flow.accounting import LONGEST_JOB, Days, add_up_accounting, list_accounted, list_used
from cigri.flow.ends import EndedJob, put_ended
from cigri.formats.units import DAY, HOUR
from cigri.states import JobKind, Outcome
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon


def one_ended(
    conn: Connection, user: str, seconds: float, *, cores: int = 1, outcome: Outcome = Outcome.SUCCESS
) -> None:
    """At noon."""
    (id,) = submitted_jobs(conn, a_campaign(conn, 1, user=user, clusters=("dahu",)), 1, 1)
    run_jobs(conn, [id])
    started = NOON - timedelta(seconds=seconds)
    parameters = {"at": started, "cores": cores, "id": id}
    conn.execute(text("UPDATE jobs SET started_at = :at, width = :cores WHERE id = :id"), parameters)
    conn.execute(text("UPDATE attempts SET started_at = :at WHERE job_id = :id"), {"at": started, "id": id})
    set_time(conn, NOON)
    end_jobs(conn, 1, [id], outcome, seconds=seconds)


def by_day(conn: Connection) -> list[tuple[int, int, float]]:
    """How many days ago, jobs that ended then, core-seconds."""
    statement = "SELECT day, sum(jobs), sum(core_seconds) FROM accounting GROUP BY day ORDER BY day"
    return [((NOON - day).days, int(jobs), used) for day, jobs, used in conn.execute(text(statement))]


def test_a_job_over_midnights_counts_on_each_of_its_days(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", 2 * DAY, cores=2)
        assert by_day(conn) == [(2, 0, 24 * HOUR), (1, 0, 48 * HOUR), (0, 1, 24 * HOUR)]
        assert list_accounted(conn, 1) == [AccountingEntry("alice", "", "dahu", 1, 24 * HOUR, 0, 0)]
        assert list_accounted(conn, 3) == [AccountingEntry("alice", "", "dahu", 1, 96 * HOUR, 0, 0)]


def test_what_was_asked_counts_on_the_day_of_the_end(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", 2 * DAY, cores=2)
        one_ended(conn, "alice", 60)
        asked = [work.asked for work in list_used(conn, Days(3), ["day"])]
    assert asked == [0, 0, 3 * HOUR]


def test_what_ended_well_is_told_apart_by_user(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", 100)
        one_ended(conn, "alice", 30, outcome=Outcome.PREEMPTED)
        one_ended(conn, "bob", 7)
        alices, bobs = (
            AccountingEntry("alice", "", "dahu", 2, 100, 30, 0),
            AccountingEntry("bob", "", "dahu", 1, 7, 0, 0),
        )
        assert list_accounted(conn, 1) == [alices, bobs]
        assert list_accounted(conn, 1, "bob") == [bobs]


def test_replicas_are_told_apart(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        (id,) = submitted_jobs(conn, a_campaign(conn, 1), 1, 1)
        conn.execute(text("UPDATE attempts SET is_replica = true"))
        set_time(conn, NOON - timedelta(seconds=60))
        run_jobs(conn, [id])
        set_time(conn, NOON)
        end_jobs(conn, 1, [id], seconds=60)
        assert [(work.well, work.replicas) for work in list_accounted(conn, 1)] == [(0, 60)]


def test_an_end_that_is_told_twice_counts_once(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", 100)
        (id,) = conn.scalars(text("SELECT id FROM jobs"))
        put_ended(conn, 1, [], [EndedJob(id, 1, JobKind.TASKS, Outcome.SUCCESS, 0, "", "", None)])
        assert by_day(conn) == [(0, 1, 100)]


def test_what_never_ran_counts_nothing(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        (id,) = submitted_jobs(conn, a_campaign(conn, 1), 1, 1)
        put_ended(conn, 1, [], [EndedJob(id, 1, JobKind.TASKS, Outcome.KILLED, None, "", "", None)])
        assert by_day(conn) == []


def test_a_cluster_whose_clock_is_wrong_costs_no_flood_of_days(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        one_ended(conn, "alice", 20_000 * DAY)
        one_ended(conn, "bob", -2 * DAY)
        assert len(by_day(conn)) == LONGEST_JOB + 1
        assert list_accounted(conn, 1, "bob") == [AccountingEntry("bob", "", "dahu", 1, 0, 0, 0)]


@pytest.mark.parametrize("first", range(4))
def test_adding_up_changes_no_total(first: int, database: Database) -> None:
    lasted = [Random(first).uniform(0, 9 * DAY) for _ in range(4)]
    with database.begin() as conn:
        a_cluster(conn)
        for number, seconds in enumerate(lasted):
            one_ended(conn, "alice", seconds)
            if number == first:
                add_up_accounting(conn, 0)
        before = by_day(conn)
        add_up_accounting(conn, 0)
        after = by_day(conn)
        rows = conn.scalar(text("SELECT count(*) FROM accounting"))
    assert [(day, jobs) for day, jobs, _ in after] == [(day, jobs) for day, jobs, _ in before]
    assert [used for *_, used in after] == pytest.approx([used for *_, used in before])
    assert sum(used for *_, used in after) == pytest.approx(sum(lasted))
    assert rows == len(after), "one sum of each day"
