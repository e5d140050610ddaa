"""The migration of the audit trail: it goes back with rows, and comes again without."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.audit import list_audit, put_audit
from tests.callers import ALICE


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
