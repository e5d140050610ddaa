"""The migration by which jobs that die idle are counted (0065), and the way back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.error_budgets import put_idle_deaths, put_refusal
from cigri.settings.sections import BudgetSettings
from tests.factories import a_campaign, a_cluster

PARTS = "SELECT campaign_id, blocked_until IS NOT NULL FROM campaign_clusters ORDER BY campaign_id"


def test_on_the_way_back_what_waits_for_a_job_to_work_waits_no_longer(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        idle, refused = a_campaign(conn, 1), a_campaign(conn, 1)
        for _ in range(2):
            put_idle_deaths(conn, cluster, "dahu", {idle: "job 1"})
        put_refusal(conn, refused, cluster, "dahu", "no", BudgetSettings())
        assert [tuple(row) for row in conn.execute(text(PARTS))] == [(idle, True), (refused, True)]
    schema.downgrade(database, "0064")
    with database.begin() as conn:
        assert [tuple(row) for row in conn.execute(text(PARTS))] == [(idle, False), (refused, True)]
        assert list(conn.scalars(text("SELECT code FROM events WHERE closed_at IS NULL"))) == ["CLUSTER_SET_ASIDE"]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert set(conn.scalars(text("SELECT idle_deaths FROM campaign_clusters"))) == {0}
