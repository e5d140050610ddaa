"""The plans of what a visit writes while the statistics know nothing yet of a campaign that has just been submitted."""

from sqlalchemy import text

from cigri.database import Database
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.flow.test_plans import nodes_of

TASKS = 30_000
UNKNOWN = "ALTER TABLE tasks SET (autovacuum_enabled = false)"


def test_the_ends_of_a_new_campaigns_tasks_are_settled_without_reading_the_others(database: Database) -> None:
    with database.begin() as conn:
        conn.execute(text(UNKNOWN))
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, TASKS)
        jobs = submitted_jobs(conn, campaign, cluster, 20)
        run_jobs(conn, jobs)
    found = nodes_of(database, lambda conn: end_jobs(conn, cluster, jobs))
    assert len(found) > 0
    assert max(node.rows for node in found) < 2000, [node for node in found if node.rows >= 2000]
