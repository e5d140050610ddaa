"""Know the clocks of clusters"""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("clusters", sa.Column("clock_skew", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("clusters", "clock_skew")
