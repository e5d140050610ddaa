"""Count visits in a row that found jobs dead without having done anything"""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

FREE = """
    UPDATE campaign_clusters SET blocked_until = NULL WHERE idle_deaths > 0 AND strikes = 0 AND failed_sends = 0
"""
CLOSE = """
    UPDATE events SET closed_at = now(), closed_by = 'cigri' WHERE code = 'JOBS_DO_NOTHING' AND closed_at IS NULL
"""


def upgrade() -> None:
    op.add_column("campaign_clusters", sa.Column("idle_deaths", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    """What waits for a job to work there waits no longer, and nobody is told of what no version before heals."""
    op.execute(FREE)
    op.execute(CLOSE)
    op.drop_column("campaign_clusters", "idle_deaths")
