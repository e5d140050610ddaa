"""Who changed what, for operators."""

from typing import TYPE_CHECKING

from cigri.api_models.changes import AuditEntry
from cigri.endpoints import Access, read_endpoint
from cigri.endpoints.paging import BACKWARDS, PageLimit, require_limit
from cigri.identity.callers import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

USUAL_ENTRIES = 100


@read_endpoint("/audit", Access.OPERATOR, BACKWARDS)
def audit_trail(
    conn: "Connection", _caller: Caller, *, before: int | None = None, limit: PageLimit = USUAL_ENTRIES
) -> list[AuditEntry]:
    """The last changes that people made, the oldest of them first."""
    from cigri.flow.audit import list_audit

    require_limit(limit)
    return list_audit(conn, limit, before)
