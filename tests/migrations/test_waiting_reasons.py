"""The migration by which it is kept what jobs wait for (0074), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.kill_requests import request_kills
from cigri.states import KillReason
from tests.factories import a_campaign, a_cluster, submitted_jobs

KILLS = "SELECT reason::text FROM kills ORDER BY job_id"
KEEP = """
    INSERT INTO waiting_reasons (cluster_id, local_user, campaign_id, said, meaning, is_stuck, jobs, since)
    VALUES (:cluster, 'alice', :campaign, 'Priority', '', false, 1, now())
"""
TELL = """
    INSERT INTO events (code, level, subject, message, opened_at, last_at)
    VALUES ('JOBS_CANNOT_START', 'error', 'campaign 1 on here', '', now(), now())
"""


def test_kills_of_before_stay_and_what_is_new_has_waited_too_long_on_the_way_back(database: Database) -> None:
    schema.downgrade(database, "0073")
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 2)
        first, second = submitted_jobs(conn, campaign, cluster, 2)
        request_kills(conn, [first], KillReason.NOT_STARTED, "killer")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        request_kills(conn, [second], KillReason.CANNOT_START, "updator")
        conn.execute(text(KEEP), {"cluster": cluster, "campaign": campaign})
        conn.execute(text(TELL))
        assert list(conn.scalars(text(KILLS))) == ["not_started", "cannot_start"]
    schema.downgrade(database, "0073")
    with database.begin() as conn:
        assert list(conn.scalars(text(KILLS))) == ["not_started", "waiting_too_long"]
        assert list(conn.scalars(text("SELECT code FROM events WHERE closed_at IS NULL"))) == []
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
