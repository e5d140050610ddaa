"""The migration that knows where the grid lives, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.grid_identity import require_grid_identity
from tests.factories import a_campaign, a_cluster, submitted_jobs


def test_a_grid_of_before_lives_where_it_is_first_started(database: Database) -> None:
    schema.downgrade(database, "0031")
    schema.upgrade(database)
    with database.begin() as conn:
        cluster = a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, ["a"]), cluster, 1)
    schema.downgrade(database, "0031")
    schema.upgrade(database)
    with database.begin() as conn:
        assert conn.execute(text("SELECT identity, place FROM grid")).one() == (None, None)
        require_grid_identity(conn, "/data")
        require_grid_identity(conn, "/data")
        assert conn.execute(text("SELECT place FROM grid")).scalar_one() == "/data"
