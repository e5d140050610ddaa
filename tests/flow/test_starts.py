"""When jobs are taken to have begun that were seen to run for the first time."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.live_jobs import ListedJob, move_seen
from cigri.states import JobState
from tests.factories import NOON, a_campaign, a_cluster, submitted_jobs

pytestmark = pytest.mark.noon


@pytest.mark.parametrize(("told", "begun"), [(None, 0), (-4.5, -4.5), (-30, -20), (7, 0), (-86_400, -20)], ids=str)
def test_a_job_began_when_its_cluster_says(database: Database, told: float | None, begun: float) -> None:
    """Not after it was seen to run, nor before it was sent, whatever the clock there says."""
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job,) = submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
        conn.execute(text("UPDATE jobs SET submitted_at = :at"), {"at": NOON - timedelta(seconds=20)})
        started = None if told is None else NOON.timestamp() + told
        move_seen(conn, [ListedJob(job, JobState.RUNNING, "r1", "n1", False, started)])
        found = conn.execute(text("SELECT started_at FROM jobs")).scalar_one()
    assert found == NOON + timedelta(seconds=begun)


def test_a_clock_that_is_hours_behind_makes_no_job_an_hour_older(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        (job,) = submitted_jobs(conn, a_campaign(conn, 1), cluster, 1)
        conn.execute(text("UPDATE jobs SET submitted_at = :at"), {"at": NOON - timedelta(days=1)})
        early = (NOON - timedelta(hours=3)).timestamp()
        move_seen(conn, [ListedJob(job, JobState.RUNNING, "r1", "n1", False, early)])
        assert conn.execute(text("SELECT started_at FROM jobs")).scalar_one() == NOON - timedelta(minutes=1)
