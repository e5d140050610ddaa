"""The audit trail: who changed what, how they were known, and when.
Given by: janitor, portal, users; taken by: users.
"""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import Connection, delete, func, insert, select

from cigri.api_models.changes import AuditEntry
from cigri.database.typed_rows import read_all
from cigri.formats.redaction import redact
from cigri.identity.callers import Caller
from cigri.tables.audit import Audit


def put_audit(conn: Connection, caller: Caller, endpoint: str, asked: Mapping[str, object]) -> None:
    """In the transaction of the change: both are there, or none."""
    values = {"grid_user": caller.user, "how": caller.how, "endpoint": endpoint, "asked": redact(asked)}
    conn.execute(insert(Audit).values(at=func.now(), **values))


def list_audit(conn: Connection, limit: int | None = None, before: int | None = None) -> list[AuditEntry]:
    """The latest `limit`, or all, of those before another, the oldest first."""
    row = Audit.c
    entries = select(row.id, row.at, row.grid_user.label("user"), row.how, row.endpoint, row.asked)
    if before is not None:
        entries = entries.where(row.id < before)
    return read_all(conn, AuditEntry, entries.order_by(row.id.desc()).limit(limit))[::-1]


def forget_audit(conn: Connection, days: float) -> int:
    """Delete what is older, and give the number of rows."""
    return conn.execute(delete(Audit).where(Audit.c.at < func.now() - timedelta(days=days))).rowcount
