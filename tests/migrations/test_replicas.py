"""Migration 0012: tasks may have replicas; on the way back, attempts that lost were withdrawn."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.kill_requests import request_kills
from cigri.states import KillReason, Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

OUTCOMES = "SELECT outcome::text FROM attempts ORDER BY task_id"
REASONS = "SELECT reason::text FROM kills ORDER BY job_id"


def test_replicas_go_back_and_forth(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 3, max_replicas=1), cluster, 3)
        request_kills(conn, jobs[1:], KillReason.SUPERSEDED, "cigri")
        end_jobs(conn, cluster, jobs[:1], Outcome.PREEMPTED)
        conn.execute(text("UPDATE attempts SET outcome = 'superseded' WHERE task_id = 2"))
    schema.downgrade(database, "0011")
    with database.begin() as conn:
        assert list(conn.scalars(text(OUTCOMES))) == ["preempted", "withdrawn", None]
        assert list(conn.scalars(text(REASONS))) == ["flood", "flood"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert conn.scalars(text("SELECT max_replicas FROM campaigns")).all() == [None]
        assert list(conn.scalars(text(OUTCOMES))) == ["preempted", "withdrawn", None]
