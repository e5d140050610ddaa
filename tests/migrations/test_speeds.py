"""The migration that knows how fast clusters were, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.expected_durations import match_tasks
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs


def test_of_what_was_remembered_before_nobody_knows_where_it_ran(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        end_jobs(conn, cluster, submitted_jobs(conn, a_campaign(conn, ["a"]), cluster, 1), seconds=20.0)
    schema.downgrade(database, "0026")
    schema.upgrade(database)
    with database.begin() as conn:
        assert conn.execute(text("SELECT seconds, cluster_id FROM last_durations")).all() == [(20.0, None)]
        assert conn.execute(text("SELECT speed, known, expected FROM campaign_clusters")).all() == [(None, 0, 0.0)]
        a_campaign(conn, ["a"])
        assert match_tasks(conn) == 1
        assert conn.scalars(text("SELECT expected FROM tasks ORDER BY id")).all() == [None, 20.0]
