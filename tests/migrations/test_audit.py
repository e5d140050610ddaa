"""The migrations of the audit trail: what was written before is chained as it is, and it all goes back."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.audit import list_audit, put_audit
from modules.operator.audit_chain import verify
from tests.callers import ALICE

BEFORE = "0060"
ROWS = """
INSERT INTO audit (at, grid_user, how, endpoint, asked)
    SELECT now(), 'alice', 'kernel', 'kill_job', jsonb_build_object('job_id', n) FROM generate_series(1, 3) AS n;
DELETE FROM audit WHERE id = 2
"""


def test_what_was_written_before_is_chained(older: Database) -> None:
    schema.upgrade(older)
    with older.begin() as conn:
        put_audit(conn, ALICE, "kill_job", {"job_id": 4})
        assert [entry.id for entry in list_audit(conn)] == [1, 3, 4]
        assert verify(conn, None).wrong == []
        assert schema.differences(conn) == []
    schema.downgrade(older, BEFORE)
    with older.begin() as conn:
        conn.execute(text("UPDATE audit SET grid_user = 'bob' WHERE id = 1"))
        conn.execute(text("INSERT INTO audit (at, grid_user, how, endpoint, asked) VALUES (now(), '', '', '', '{}')"))
    schema.upgrade(older)
    with older.begin() as conn:
        assert verify(conn, None).wrong == []
        assert verify(conn, None).head.id == 5


def test_the_trail_goes_with_its_table(database: Database) -> None:
    with database.begin() as conn:
        put_audit(conn, ALICE, "cancel_campaign", {"campaign_id": 1})
    schema.downgrade(database, "0034")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM pg_type WHERE typname = 'audit'")) == 0
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list_audit(conn) == []
