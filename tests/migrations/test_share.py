"""The migration that takes back waiting jobs of those above their share, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.campaigns import set_own_priority
from cigri.flow.kill_requests import request_kills
from cigri.flow.pending_reasons import NewPendingReason, list_cuts, put_cuts
from cigri.states import KillReason, PendingReasonCode
from tests.callers import ALICE
from tests.factories import a_campaign, a_cluster, submitted_jobs

REASONS = text("SELECT reason::text FROM kills ORDER BY job_id")


def test_campaigns_of_before_are_equal_to_their_users(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        set_own_priority(conn, a_campaign(conn, 1), ALICE, 7)
    schema.downgrade(database, "0023")
    schema.upgrade(database)
    with database.begin() as conn:
        assert conn.scalars(text("SELECT own_priority FROM campaigns")).all() == [0]


def test_what_was_taken_back_had_waited_too_long_before(database: Database) -> None:
    with database.begin() as conn:
        cluster, campaign = a_cluster(conn), a_campaign(conn, 2)
        first, second = submitted_jobs(conn, campaign, cluster, 2)
        request_kills(conn, [first], KillReason.FAIRNESS, "metascheduler")
        request_kills(conn, [second], KillReason.FLOOD, "killer")
        put_cuts(conn, [NewPendingReason(campaign, cluster, PendingReasonCode.SHARE, "", 1, 1)])
    schema.downgrade(database, "0018")
    with database.begin() as conn:
        assert list(conn.scalars(REASONS)) == ["waiting_too_long", "flood"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert list(conn.scalars(REASONS)) == ["waiting_too_long", "flood"]
        assert list_cuts(conn, campaign) == []
        put_cuts(conn, [NewPendingReason(campaign, cluster, PendingReasonCode.SHARE, "", 1, 1)])
        assert [cut.reason for cut in list_cuts(conn, campaign)] == [PendingReasonCode.SHARE]
