"""Migration 0003: clusters may be drained; the way back finds another word for the kills of a drain."""

from sqlalchemy import text

from cigri import schema
from cigri.database import Database
from cigri.flow.anyone_to_killer import ask_kills
from cigri.states import KillReason
from tests.factories import a_campaign, a_cluster, submitted_jobs

REASONS = "SELECT reason::text FROM kills ORDER BY job_id"


def test_kills_of_a_drain_go_back_and_forth(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 2), cluster, 2)
        ask_kills(conn, jobs[:1], KillReason.DRAIN, "oper")
        ask_kills(conn, jobs[1:], KillReason.USER, "ann")
    schema.downgrade(database, "0002")
    with database.begin() as conn:
        assert list(conn.scalars(text(REASONS))) == ["waiting_too_long", "user"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert list(conn.scalars(text(REASONS))) == ["waiting_too_long", "user"]
        assert schema.differences(conn) == []
        assert ask_kills(conn, jobs[:1], KillReason.USER, "ann") == 1
