"""Average durations by bucket"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

KNOWN = """
INSERT INTO bucket_averages (bucket_id, cluster_id, weight, seconds)
    SELECT buckets.id, part.cluster_id, least(part.done, 100), part.seconds / part.done
    FROM campaign_clusters part JOIN buckets USING (campaign_id) WHERE part.done > 0
"""


def upgrade() -> None:
    """What was known of a campaign on a cluster is taken for each of its buckets."""
    op.create_table(
        "bucket_averages",
        sa.Column("bucket_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("weight", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.DOUBLE_PRECISION(), nullable=False),
        sa.CheckConstraint("weight > 0 AND weight <= 100", name=op.f("ck_bucket_averages_weight")),
        sa.ForeignKeyConstraint(
            ["bucket_id"], ["buckets.id"], name=op.f("fk_bucket_averages_bucket_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_bucket_averages_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bucket_id", "cluster_id", name=op.f("pk_bucket_averages")),
    )
    op.execute(KNOWN)


def downgrade() -> None:
    op.drop_table("bucket_averages")
