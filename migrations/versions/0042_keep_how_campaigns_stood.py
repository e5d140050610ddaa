"""Keep how campaigns stood beside what was forecast of them"""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

COLUMNS = ("cores", "done", "failed")


def upgrade() -> None:
    for column in COLUMNS:
        op.add_column("forecast_history", sa.Column(column, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    for column in reversed(COLUMNS):
        op.drop_column("forecast_history", column)
