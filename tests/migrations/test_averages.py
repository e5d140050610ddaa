"""The migration that averages durations by bucket, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs


def test_what_was_known_of_a_campaign_is_known_of_its_buckets(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 3)
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 2), seconds=20.0)
        a_campaign(conn, 1)
    schema.downgrade(database, "0019")
    with database.begin() as conn:
        conn.execute(text("UPDATE campaign_clusters SET done = 500, seconds = 6000 WHERE campaign_id = 1"))
    schema.upgrade(database, "0020")
    with database.begin() as conn:
        assert conn.execute(text("SELECT * FROM bucket_averages")).all() == [(1, cluster, 100, 12.0)]
