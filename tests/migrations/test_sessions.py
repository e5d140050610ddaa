"""The migration of sessions: it goes back with rows, and comes again without."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.browser_sessions import find_session, open_session, put_link
from cigri.identity.callers import AccessScope


def test_sessions_go_with_their_table(database: Database) -> None:
    with database.begin() as conn:
        put_link(conn, "alice", "0" * 64, AccessScope.SUBMIT)
        open_session(conn, "0" * 64, "1" * 64)
    schema.downgrade(database, "0039")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT to_regclass('sessions')")) is None
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert find_session(conn, "1" * 64) is None
