"""The migration that lets results be doubted and nodes be left out, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.doubtful_results import DoubtfulResults, mark_doubtful
from cigri.flow.excluded_nodes import list_excluded, put_exclusion
from cigri.settings.sections import NodeSettings
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs


def test_doubted_results_of_before_are_successes(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 2)
        jobs = submitted_jobs(conn, campaign, cluster, 2)
        run_jobs(conn, jobs)
        end_jobs(conn, cluster, jobs, seconds=0.1)
        assert mark_doubtful(conn, DoubtfulResults(campaign, cluster, "dahu", 0.5, None, "Too soon")) == 2
        put_exclusion(conn, cluster, "dahu", "node-1", "sick", NodeSettings())
    schema.downgrade(database, "0009")
    with database.begin() as conn:
        assert conn.scalars(text("SELECT outcome FROM attempts")).all() == ["success", "success"]
        assert conn.scalar(text("SELECT done FROM campaign_clusters")) == 2
    schema.upgrade(database)
    with database.begin() as conn:
        found = conn.execute(text("SELECT doubted, doubted_below, sink_since, is_trusted FROM campaign_clusters"))
        assert found.all() == [(0, None, None, False)]
        assert list_excluded(conn, cluster) == []
        assert mark_doubtful(conn, DoubtfulResults(campaign, cluster, "dahu", 0.5, None, "Too soon")) == 2
