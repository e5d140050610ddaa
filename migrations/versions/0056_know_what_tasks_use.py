"""Know what the tasks of a campaign use on each cluster: seconds of processors, bytes read and written"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

AMOUNTS = ("profiled_seconds", "cpu", "most_cpu", "bytes_read", "most_read", "bytes_written", "most_written")


def upgrade() -> None:
    op.add_column("campaign_clusters", sa.Column("profiled", sa.BigInteger(), server_default="0", nullable=False))
    for name in AMOUNTS:
        op.add_column("campaign_clusters", sa.Column(name, sa.Double(), server_default="0", nullable=False))


def downgrade() -> None:
    for name in ("profiled", *AMOUNTS):
        op.drop_column("campaign_clusters", name)
