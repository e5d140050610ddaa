"""The audit trail: who changed what, how they were known, and when.
Given by: janitor, operator, portal, users; taken by: operator, users.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Text, cast, delete, func, insert, select

from cigri.api_models.changes import AuditEntry
from cigri.database.typed_rows import read_all
from cigri.formats.redaction import redact
from cigri.identity.callers import Caller
from cigri.tables.audit import Audit, AuditChain

SHORTEST_KEPT = 1.0  # days: what is younger the database lets nobody remove


class AuditChainState(NamedTuple):
    """The last entry, and the last one that was removed as too old; "" and 0: there is none."""

    last_id: int
    last_hash: str
    removed_id: int
    removed_hash: str
    removed_until: datetime | None


class ChainedEntry(NamedTuple):
    """An entry, its hash as it is stored, and the text that this is of, behind the hash before it."""

    id: int
    hash: str
    text: str


def put_audit(conn: Connection, caller: Caller, endpoint: str, asked: Mapping[str, object]) -> None:
    """In the transaction of the change, of which it is the last: until its end all others who change something wait."""
    values = {"grid_user": caller.user, "how": caller.how, "endpoint": endpoint, "asked": redact(asked)}
    conn.execute(insert(Audit).values(at=func.now(), **values))


def list_audit(conn: Connection, limit: int | None = None, before: int | None = None) -> list[AuditEntry]:
    """The latest `limit`, or all, of those before another, the oldest first."""
    row = Audit.c
    entries = select(row.id, row.at, row.grid_user.label("user"), row.how, row.endpoint, row.asked)
    if before is not None:
        entries = entries.where(row.id < before)
    return read_all(conn, AuditEntry, entries.order_by(row.id.desc()).limit(limit))[::-1]


def find_chain(conn: Connection) -> AuditChainState:
    """The ends of the chain."""
    row = AuditChain.c
    ends = select(row.last_id, row.last_hash, row.removed_id, row.removed_hash, row.removed_until)
    (chain,) = read_all(conn, AuditChainState, ends)
    return chain


def walk_audit(conn: Connection) -> Iterator[ChainedEntry]:
    """All entries, the oldest first, a few in memory at a time."""
    row = Audit.c
    at = func.to_char(func.timezone("UTC", row.at), "YYYY-MM-DD HH24:MI:SS.US")
    text = cast(func.jsonb_build_array(row.id, at, row.grid_user, row.how, row.endpoint, row.asked), Text)
    entries = select(row.id, row.hash, text.label("text")).order_by(row.id)
    for entry in conn.execution_options(yield_per=1000).execute(entries):
        yield ChainedEntry(entry.id, entry.hash, entry.text)


def forget_audit(conn: Connection, days: float) -> int:
    """Delete what is older, up to the first entry that is not, and give the number of rows."""
    oldest = func.now() - timedelta(days=max(days, SHORTEST_KEPT))
    kept = select(func.min(Audit.c.id)).where(Audit.c.at >= oldest).scalar_subquery()
    return conn.execute(delete(Audit).where(Audit.c.id < func.coalesce(kept, 2**63 - 1))).rowcount
