"""The migration by which submissions that fail in a row are counted (0064), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.error_budgets import put_failed_submission, put_refusal
from cigri.settings.sections import BudgetSettings
from tests.factories import a_campaign, a_cluster

PARTS = "SELECT campaign_id, blocked_until IS NOT NULL FROM campaign_clusters ORDER BY campaign_id"


def test_on_the_way_back_what_waits_for_its_next_try_waits_no_longer(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        waiting, refused = a_campaign(conn, 1), a_campaign(conn, 1)
        put_failed_submission(conn, waiting, cluster, "dahu", "no", BudgetSettings())
        put_refusal(conn, refused, cluster, "dahu", "no", BudgetSettings())
        assert [tuple(row) for row in conn.execute(text(PARTS))] == [(waiting, True), (refused, True)]
    schema.downgrade(database, "0063")
    with database.begin() as conn:
        assert [tuple(row) for row in conn.execute(text(PARTS))] == [(waiting, False), (refused, True)]
        left = "SELECT code FROM events WHERE closed_at IS NULL"
        assert list(conn.scalars(text(left))) == ["CLUSTER_SET_ASIDE"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert set(conn.scalars(text("SELECT failed_sends FROM campaign_clusters"))) == {0}
