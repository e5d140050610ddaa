"""The migration that remembers how long tasks took, up and down with rows."""

from sqlalchemy import select, text

from cigri.database import Database, schema
from cigri.flow.expected_durations import match_tasks
from cigri.flow.views.invariants import examine
from cigri.tables.campaigns import Campaign
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs


def test_tasks_of_before_are_known_by_nobody_and_still_counted(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, ["a", "b"])
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        a_campaign(conn, ["a"])
        assert match_tasks(conn) == 1
    schema.downgrade(database, "0022")
    with database.begin() as conn:
        conn.execute(text("UPDATE tasks SET state = 'cancelled' WHERE campaign_id = 2"))
        counts = text("SELECT campaign_id, state::text, sum(n)::int FROM task_counts GROUP BY 1, 2 HAVING sum(n) <> 0")
        assert sorted(conn.execute(counts).all()) == [(1, "done", 1), (1, "waiting", 1), (2, "cancelled", 1)]
    schema.upgrade(database)
    with database.begin() as conn:
        assert list(conn.scalars(select(Campaign.c.unmatched_from))) == [None, None]
        assert conn.scalar(text("SELECT count(*) FROM last_durations")) == 0
        end_jobs(conn, cluster, submitted_jobs(conn, campaign, cluster, 1))
        a_campaign(conn, ["b"])
        assert match_tasks(conn) == 1
        assert examine(conn) == []
