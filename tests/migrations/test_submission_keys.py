"""The migration that lets a campaign be submitted once, however often it is sent, up and down with rows."""

from cigri.database import Database, schema
from cigri.flow.submissions import find_submission
from tests.factories import a_campaign, a_cluster


def test_campaigns_of_before_have_no_key(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        a_campaign(conn, 1)
    schema.downgrade(database, "0034")
    schema.upgrade(database)
    with database.begin() as conn:
        assert find_submission(conn, "alice", "k") is None
        a_campaign(conn, 1)
