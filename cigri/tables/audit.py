"""The audit trail: what people changed."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, Named
from sqlalchemy.dialects.postgresql import JSONB

from cigri.tables.columns import NumberedColumns, table


class AuditColumns(NumberedColumns):
    """A change: who asked for it, `how` that was known, and what was `asked` of which endpoint, shortened.

    Written in the transaction of the change itself; what was refused is not here.
    """

    at: Named[datetime]
    grid_user: Named[str]
    how: Named[str]
    endpoint: Named[str]
    asked: Named[dict[str, Any]] = Column(JSONB)


Audit = table("audit", AuditColumns, Index("ix_audit_at", "at"))
