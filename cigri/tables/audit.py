"""The audit trail: what people changed."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, Index, Named
from sqlalchemy.dialects.postgresql import JSONB

from cigri.tables.columns import NumberedColumns, TableColumns, table


class AuditColumns(NumberedColumns):
    """A change: who asked for it, `how` that was known, and what was `asked` of which endpoint, shortened.

    Written in the transaction of the change itself; what was refused is not here. Triggers give `id`, without gaps, and
    `hash`, of the entry and the hash before it; they let nothing be changed, and only the oldest entries be removed.
    """

    at: Named[datetime]
    grid_user: Named[str]
    how: Named[str]
    endpoint: Named[str]
    asked: Named[dict[str, Any]] = Column(JSONB)
    hash: Named[str]


Audit = table("audit", AuditColumns, Index("ix_audit_at", "at"))


class AuditChainColumns(TableColumns):
    """One row: the last entry of the audit trail, and the last one that was removed as too old, with its time."""

    one: Named[bool] = Column(primary_key=True)
    last_id: Named[int] = Column(server_default="0")
    last_hash: Named[str] = Column(server_default="")
    removed_id: Named[int] = Column(server_default="0")
    removed_hash: Named[str] = Column(server_default="")
    removed_until: Named[datetime | None]


AuditChain = table("audit_chain", AuditChainColumns, CheckConstraint("one", name="one_row"))
