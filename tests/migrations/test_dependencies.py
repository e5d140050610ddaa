"""The migration that lets campaigns wait for others: back, nobody's tasks start because nothing holds them any more."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.dependencies import NewDependency
from tests.factories import a_campaign, a_cluster

STANDING = text("SELECT id, state::text FROM campaigns ORDER BY id")


def test_there_and_back_with_campaigns_that_wait(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        first = a_campaign(conn, 2)
        second = a_campaign(conn, 3, after=[NewDependency(first)])
    schema.downgrade(database, "0046")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT to_regclass('dependencies')")) is None
        assert conn.execute(STANDING).all() == [(first, "in_treatment"), (second, "paused")]
        tasks = text("SELECT campaign_id, state::text, count(*) FROM tasks GROUP BY 1, 2 ORDER BY 1")
        assert conn.execute(tasks).all() == [(first, "waiting", 2), (second, "waiting", 3)]
        counts = "SELECT campaign_id, state::text, sum(n) FROM task_counts GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1"
        assert conn.execute(text(counts)).all() == [(first, "waiting", 2), (second, "waiting", 3)]
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        third = a_campaign(conn, 1, after=[NewDependency(second)])
        assert conn.scalar(text(f"SELECT state::text FROM tasks WHERE campaign_id = {third}")) == "blocked"
        assert list(conn.scalars(text("SELECT campaign_id FROM holds"))) == [second], "what was paused is held"
