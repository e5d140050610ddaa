"""Count submissions that fail in a row"""

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

CLOSE = """
    UPDATE events SET closed_at = now(), closed_by = 'cigri' WHERE code = 'SUBMISSION_FAILED' AND closed_at IS NULL
"""


def upgrade() -> None:
    op.add_column("campaign_clusters", sa.Column("failed_sends", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    """What waits for its next try there waits no longer, and nobody is told of what no version before heals."""
    op.execute("UPDATE campaign_clusters SET blocked_until = NULL WHERE failed_sends > 0 AND strikes = 0")
    op.execute(CLOSE)
    op.drop_column("campaign_clusters", "failed_sends")
