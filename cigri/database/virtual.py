"""A database whose time is set: all that calls now() in it, in whatever statement, is told the same virtual time.

PostgreSQL looks for a function in the schemas of the session's path, in its own catalog first only where the path does
not name it. So a schema before the catalog has a now() of ours, and no statement needs to know.
"""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, event

from cigri.database import Database
from cigri.database.sessions import SESSION_SETTINGS

CLOCK = """\
CREATE SCHEMA IF NOT EXISTS virtual;
CREATE OR REPLACE FUNCTION virtual.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE RETURN
    coalesce(nullif(current_setting('cigri.now', true), '')::timestamptz, pg_catalog.now())"""
TELL = "SELECT set_config('cigri.now', %s, false), virtual.now()"  # so that it fails where there is no such clock


class VirtualTimeDatabase(Database):
    """Its time is the server's until it is set, for the transactions that begin from then on."""

    settings: Mapping[str, str] = {**SESSION_SETTINGS, "search_path": "public, virtual, pg_catalog"}

    def __init__(self, url: str, lock_timeout: float = 30.0) -> None:
        super().__init__(url, lock_timeout)
        self._time = ""
        event.listen(self.engine, "begin", self._tell)

    def make_clock(self) -> None:
        """Once in each such database, or in the one it is copied from; before its tables, for the sake of defaults."""
        with self.begin() as conn:
            conn.exec_driver_sql(CLOCK)

    def set_time(self, moment: datetime) -> None:
        """For transactions that begin from then on; a moment without a time zone is in UTC."""
        self._time = moment.isoformat()

    def _tell(self, conn: Connection) -> None:
        """Each connection once for each time, outside the transaction, whose end would take it back."""
        if conn.info.get("time", "") == self._time:
            return
        session = conn.connection.driver_connection
        assert session is not None
        is_autocommit, session.autocommit = session.autocommit, True
        try:
            conn.exec_driver_sql(TELL, (self._time,))
        finally:
            session.autocommit = is_autocommit
        conn.info["time"] = self._time
