"""The migration by which it is remembered what queues take (0070), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.errors import QueueFull
from cigri.flow.clusters import list_clusters
from cigri.flow.pending_reasons import NewPendingReason, put_cuts
from cigri.flow.queue_limits import put_full
from cigri.states import PendingReasonCode
from tests.factories import a_campaign, a_cluster

CUTS = "SELECT reason::text FROM cuts ORDER BY campaign_id"


def test_cuts_of_before_stay_and_what_is_new_goes_on_the_way_back(database: Database) -> None:
    schema.downgrade(database, "0068")
    with database.begin() as conn:
        cluster = a_cluster(conn)
        first, second = a_campaign(conn, 1), a_campaign(conn, 1)
        put_cuts(conn, [NewPendingReason(first, cluster, PendingReasonCode.QUOTA_JOBS, "user alice", 1, 1)])
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list(conn.scalars(text(CUTS))) == ["quota_jobs"]
        (row,) = list_clusters(conn, "runner")
        put_full(conn, row, "alice", 3, QueueFull("AssocMaxSubmitJobLimit"))
        cuts = [(first, PendingReasonCode.QUOTA_JOBS), (second, PendingReasonCode.QUEUE_LIMIT)]
        put_cuts(conn, [NewPendingReason(id, cluster, reason, "user alice", 1, 1) for id, reason in cuts])
        assert list(conn.scalars(text(CUTS))) == ["quota_jobs", "queue_limit"]
    schema.downgrade(database, "0068")
    with database.begin() as conn:
        assert list(conn.scalars(text(CUTS))) == ["quota_jobs"]
        assert list(conn.scalars(text("SELECT code FROM events WHERE closed_at IS NULL"))) == []
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
