"""Know how much memory tasks took"""

import sqlalchemy as sa
from alembic import op

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Of what ended before nobody knows it: null, which is not 0."""
    op.add_column("attempts", sa.Column("peak_memory", sa.BigInteger(), nullable=True))
    op.add_column("campaign_clusters", sa.Column("most_memory", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("campaign_clusters", "most_memory")
    op.drop_column("attempts", "peak_memory")
