"""Publish when campaigns end"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

TABLES = ("forecasts", "forecast_history")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("pressure", sa.DOUBLE_PRECISION(), nullable=True))
        op.add_column(table, sa.Column("published", postgresql.TIMESTAMP(timezone=True), nullable=True))
    op.create_check_constraint(op.f("ck_forecasts_pressure"), "forecasts", "pressure >= 0")


def downgrade() -> None:
    op.drop_constraint(op.f("ck_forecasts_pressure"), "forecasts")
    for table in TABLES:
        op.drop_column(table, "published")
        op.drop_column(table, "pressure")
