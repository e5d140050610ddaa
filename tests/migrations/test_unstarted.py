"""The migration by which running jobs are known to have begun (0062), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.kill_requests import request_kills
from cigri.flow.live_jobs import mark_begun, mark_unstarted
from cigri.states import KillReason
from tests.factories import a_campaign, a_cluster, run_jobs, submitted_jobs

REASONS = "SELECT job_id, reason::text FROM kills ORDER BY job_id"
BEGUN = "SELECT has_begun FROM jobs ORDER BY id"


def test_on_the_way_back_what_never_started_is_left_to_its_walltime(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 3), cluster, 3)
        run_jobs(conn, jobs)
        mark_begun(conn, jobs[:1])
        mark_unstarted(conn, jobs[1:2], "it has not started")
        assert list(conn.scalars(text(BEGUN))) == [True, False, None]
        request_kills(conn, jobs[1:2], KillReason.NOT_STARTED, "killer")
        request_kills(conn, jobs[2:], KillReason.LISTED_AGAIN, "updator")
    schema.downgrade(database, "0061")
    with database.begin() as conn:
        assert [tuple(row) for row in conn.execute(text(REASONS))] == [(jobs[2], "listed_again")]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list(conn.scalars(text(BEGUN))) == [None, None, None]
        assert request_kills(conn, jobs[1:2], KillReason.NOT_STARTED, "killer") == 1
