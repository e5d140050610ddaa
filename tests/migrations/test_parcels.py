"""The migration that lets outputs be collected, there and back with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

SHARES = text("SELECT uncollected, uncollected_bytes, collected, lost, outputs_wait FROM campaign_clusters")
PARCEL = text("""INSERT INTO parcels (task_id, attempt, campaign_id, cluster_id, files, bytes, ended_at)
    SELECT t.id, 1, t.campaign_id, :cluster, 2, 5000000000, now() FROM tasks t""")


def test_what_ended_before_is_not_collected(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        end_jobs(conn, cluster, submitted_jobs(conn, a_campaign(conn, 1), cluster, 1), Outcome.SUCCESS)
        conn.execute(PARCEL, {"cluster": cluster})
        conn.execute(text("UPDATE campaign_clusters SET uncollected = 1, outputs_wait = true"))
    schema.downgrade(database, "0046")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert conn.execute(SHARES).all() == [(0, 0, 0, 0, False)]
        assert conn.execute(text("SELECT count(*) FROM attempts")).scalar_one() == 1
