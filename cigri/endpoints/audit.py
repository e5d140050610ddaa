"""Who changed what, for operators."""

from typing import TYPE_CHECKING

from cigri.answers.audit import AuditEntry
from cigri.endpoints import May, reads
from cigri.errors import UsageError
from cigri.rules.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_ENTRIES = 100_000


@reads("/audit", May.OPERATOR)
def audit_trail(conn: "Connection", _caller: Caller, *, limit: int = 100) -> list[AuditEntry]:
    """The last changes that people made, the oldest of them first."""
    from cigri.flow.audit import list_audit

    if not 0 < limit <= MOST_ENTRIES:
        raise UsageError(f"limit {limit}: a number of changes, {MOST_ENTRIES} at most")
    return list_audit(conn, limit)
