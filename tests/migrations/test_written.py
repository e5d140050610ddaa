"""The migration that keeps descriptions as they were written: campaigns of before have none, and it goes back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.views.descriptions import find_description
from tests.factories import a_campaign, a_cluster


def test_campaigns_of_before_have_no_written_description(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 2)
        conn.execute(text('UPDATE campaigns SET written = \'{"name": "n"}\''))
    schema.downgrade(database, "0028")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        stored = find_description(conn, campaign)
    assert stored is not None
    assert (stored.name, stored.written) == ("povray", None)
