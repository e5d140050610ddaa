"""Which campaigns a campaign waits for."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Named, UniqueConstraint

from cigri.states import AfterWhen
from cigri.tables.columns import NumberedColumns, one_of, table

IS_SHUT = "met_at IS NULL"


class DependencyColumns(NumberedColumns):
    """`campaign_id` waits for `required_id`, an earlier one; until all are met its gate is shut, and its tasks wait.

    `is_same`: task n waits for task n; else all for all. `condition`: how what is waited for has to end, where
    `tolerated` of its tasks, or the share `tolerance` of them, may fail. `met_at`: nothing is waited for any more;
    `waived_by`: because this user did not want to wait. `broken_at`: what is required has ended otherwise. `seen`: so
    many of its tasks were as they are to be when tasks of the same numbers were last released.
    """

    campaign_id: Named[int] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    required_id: Named[int] = Column(ForeignKey("campaigns.id"))
    is_same: Named[bool]
    condition: Named[AfterWhen] = Column(one_of(AfterWhen))
    tolerated: Named[int] = Column(server_default="0")
    tolerance: Named[float] = Column(server_default="0")
    met_at: Named[datetime | None]
    waived_by: Named[str | None]
    broken_at: Named[datetime | None]
    seen: Named[int] = Column(server_default="0")


Dependency = table(
    "dependencies",
    DependencyColumns,
    UniqueConstraint("campaign_id", "required_id"),
    CheckConstraint("required_id < campaign_id", name="earlier"),
    CheckConstraint("tolerated >= 0 AND tolerance >= 0 AND tolerance <= 1", name="tolerance"),
    CheckConstraint("broken_at IS NULL OR met_at IS NULL", name="verdict"),
    CheckConstraint("waived_by IS NULL OR met_at IS NOT NULL", name="waived"),
    Index("ix_dependencies_shut", "required_id", postgresql_where=IS_SHUT),
    Index(None, "required_id"),
)
