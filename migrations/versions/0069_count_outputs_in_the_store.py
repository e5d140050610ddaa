"""Count outputs in the store"""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

SHARES = "campaign_clusters"
INDEX = "ix_campaign_clusters_stored"


def upgrade() -> None:
    op.add_column(SHARES, sa.Column("stored_bytes", sa.BigInteger(), server_default="0", nullable=False))
    op.create_index(INDEX, SHARES, ["campaign_id"], postgresql_where=sa.text("stored_bytes > 0 OR uncollected > 0"))
    op.execute(
        """
        UPDATE campaign_clusters SET stored_bytes = kept.bytes
        FROM (
            SELECT campaign_id, cluster_id, sum(parcels.bytes + 4096 * parcels.files) AS bytes
            FROM parcels JOIN campaigns ON campaigns.id = campaign_id
            WHERE collected_at IS NOT NULL AND NOT is_delivered AND purged_at IS NULL
            GROUP BY campaign_id, cluster_id
        ) AS kept
        WHERE kept.campaign_id = campaign_clusters.campaign_id AND kept.cluster_id = campaign_clusters.cluster_id
        """
    )


def downgrade() -> None:
    op.drop_index(INDEX, SHARES)
    op.drop_column(SHARES, "stored_bytes")
