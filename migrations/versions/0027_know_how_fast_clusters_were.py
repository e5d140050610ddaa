"""Know how fast clusters were for tasks that come again"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

FOREIGN_KEY = "fk_last_durations_cluster_id"


def upgrade() -> None:
    """Of what was remembered before nobody knows where it ran."""
    op.add_column("last_durations", sa.Column("cluster_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(FOREIGN_KEY, "last_durations", "clusters", ["cluster_id"], ["id"], ondelete="SET NULL")
    op.add_column("campaign_clusters", sa.Column("speed", sa.DOUBLE_PRECISION(), nullable=True))
    op.add_column("campaign_clusters", sa.Column("known", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("campaign_clusters", sa.Column("expected", sa.DOUBLE_PRECISION(), server_default="0", nullable=False))
    op.create_check_constraint(op.f("ck_campaign_clusters_speed"), "campaign_clusters", "speed > 0")


def downgrade() -> None:
    op.drop_constraint(op.f("ck_campaign_clusters_speed"), "campaign_clusters", type_="check")
    for name in ("expected", "known", "speed"):
        op.drop_column("campaign_clusters", name)
    op.drop_constraint(FOREIGN_KEY, "last_durations", type_="foreignkey")
    op.drop_column("last_durations", "cluster_id")
