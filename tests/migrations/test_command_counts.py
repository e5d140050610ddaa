"""The migration that counts remote commands: it begins at nothing, beside rows that stay."""

from cigri.database import Database, schema
from cigri.flow.remote_command_counts import RemoteCommandCosts, list_commands, put_commands
from tests.factories import a_campaign, a_cluster


def test_commands_are_counted_from_then_on(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 3)
        put_commands(conn, "updator", {"dahu": RemoteCommandCosts(1, 0.5)})
    schema.downgrade(database, "0040")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list_commands(conn) == []
        put_commands(conn, "updator", {"dahu": RemoteCommandCosts(2, 0.25)})
        assert [one.commands for one in list_commands(conn)] == [2]
        assert campaign == 1
