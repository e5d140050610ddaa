"""The migrations by which clusters (0003) and nodes (0030) may be drained, and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.drains import NodeDrainRequest, list_node_drains, put_node_drain, record_notified_jobs
from cigri.flow.kill_requests import request_kills
from cigri.states import KillReason
from tests.factories import NOON, a_campaign, a_cluster, submitted_jobs

REASONS = "SELECT reason::text FROM kills ORDER BY job_id"


def test_kills_of_a_drain_go_back_and_forth(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        jobs = submitted_jobs(conn, a_campaign(conn, 2), cluster, 2)
        request_kills(conn, jobs[:1], KillReason.DRAIN, "oper")
        request_kills(conn, jobs[1:], KillReason.USER, "ann")
    schema.downgrade(database, "0002")
    with database.begin() as conn:
        assert list(conn.scalars(text(REASONS))) == ["waiting_too_long", "user"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert list(conn.scalars(text(REASONS))) == ["waiting_too_long", "user"]
        assert schema.differences(conn) == []
        assert request_kills(conn, jobs[:1], KillReason.USER, "ann") == 1


def test_shutdowns_of_before_are_those_of_jobs_and_their_time_is_still_to_come(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first, second = submitted_jobs(conn, a_campaign(conn, 2), cluster, 2)
        record_notified_jobs(conn, [(first, True)], NOON)
        record_notified_jobs(conn, [(second, True)], NOON, machine_only=True)
        put_node_drain(conn, cluster, NodeDrainRequest("dahu-3", NOON, "oper"))
    schema.downgrade(database, "0029")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        found = conn.execute(text("SELECT job_id, was_heard, machine_only, is_past FROM shutdowns")).all()
        assert [tuple(row) for row in found] == [(first, True, False, False)]
        assert list_node_drains(conn, cluster) == []
