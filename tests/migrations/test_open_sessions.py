"""The migration that knows open sessions: rows of before have none."""

from cigri.database import Database, schema
from cigri.flow.remote_command_counts import RemoteCommandCosts, list_commands, put_commands, put_sessions
from tests.factories import a_cluster


def test_what_was_counted_before_has_none_open(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put_commands(conn, "updator", {"dahu": RemoteCommandCosts(1, 0.5)})
        put_sessions(conn, "updator", {"dahu": 2})
    schema.downgrade(database, "0045")
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert [(one.commands, one.sessions) for one in list_commands(conn)] == [(1, 0)]
