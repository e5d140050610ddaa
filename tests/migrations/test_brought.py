"""The migration that knows what tasks have brought, there and back with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

STOOD = text("SELECT outcome::text, files, bytes FROM attempts")


def test_attempts_from_before_have_brought_nothing(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        end_jobs(conn, cluster, submitted_jobs(conn, a_campaign(conn, 1), cluster, 1), Outcome.SUCCESS)
        conn.execute(text("UPDATE attempts SET files = 2, bytes = 5000000000"))
    schema.downgrade(database, "0042")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert conn.execute(STOOD).all() == [("success", 0, 0)]
