"""The migration that knows processes: passes of before stay as they are."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.processes import ProcessSign, put_sign

BEFORE = "0062"
ROWS = """\
INSERT INTO modules (name, host, pid, started_at, counts) VALUES ('updator', 'host', 7, now(), '{}')
"""


def test_processes_are_known_from_their_next_sign_of_life(older: Database) -> None:
    schema.upgrade(older)
    with older.begin() as conn:
        assert schema.differences(conn) == []
        assert conn.scalar(text("SELECT count(*) FROM processes")) == 0
        assert conn.scalar(text("SELECT pid FROM modules")) == 7
        put_sign(conn, ProcessSign("host", 7, "almighty", "", 0.0, 60.0, 30.0))
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        assert conn.scalar(text("SELECT pid FROM modules")) == 7
