"""The migrations of what policies go by, up and down with rows."""

from sqlalchemy import text

from cigri import schema
from cigri.database import Database
from cigri.flow.operator_to_metascheduler import put_affinity, set_priority
from tests.factories import a_campaign, a_cluster


def test_campaigns_of_before_have_no_priority_and_users_no_affinity(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        set_priority(conn, a_campaign(conn, 1), 3)
        put_affinity(conn, "alice", "dahu")
    schema.downgrade(database, "0005")
    schema.upgrade(database, "0006")
    with database.begin() as conn:
        assert conn.scalars(text("SELECT priority FROM campaigns")).all() == [0]
        assert conn.scalars(text("SELECT count(*) FROM affinities")).all() == [0]
