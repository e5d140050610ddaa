"""Let inputs travel: what is in the store, what campaigns need, what lies on clusters"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

MOMENT = TIMESTAMP(timezone=True)


def upgrade() -> None:
    op.create_table(
        "stored_inputs",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("stored_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_stored_inputs"),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_stored_inputs_sha256")),
        sa.CheckConstraint("size >= 0", name=op.f("ck_stored_inputs_size")),
    )
    op.create_table(
        "sent_inputs",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("sent_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("sha256", "grid_user", name="pk_sent_inputs"),
        sa.ForeignKeyConstraint(["sha256"], ["stored_inputs.sha256"], name="fk_sent_inputs_sha256", ondelete="CASCADE"),
    )
    op.create_index("ix_sent_inputs_grid_user", "sent_inputs", ["grid_user"])
    op.create_table(
        "campaign_inputs",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "sha256", name="pk_campaign_inputs"),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name="fk_campaign_inputs_campaign_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["sha256"], ["stored_inputs.sha256"], name="fk_campaign_inputs_sha256"),
    )
    op.create_index("ix_campaign_inputs_sha256", "campaign_inputs", ["sha256"])
    op.create_table(
        "part_inputs",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("is_packed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", "sha256", "is_packed", name="pk_part_inputs"),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name="fk_part_inputs_campaign_id_cluster_id",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "cached_inputs",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("local_user", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("is_packed", sa.Boolean(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("is_there", sa.Boolean(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("cluster_id", "local_user", "sha256", "is_packed", name="pk_cached_inputs"),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name="fk_cached_inputs_cluster_id", ondelete="CASCADE"
        ),
        sa.CheckConstraint("bytes >= 0", name=op.f("ck_cached_inputs_bytes")),
    )
    op.add_column("campaign_clusters", sa.Column("lacks_inputs", sa.Boolean(), nullable=False, server_default="false"))
    op.create_index(
        "ix_campaign_clusters_lacking", "campaign_clusters", ["campaign_id"], postgresql_where=sa.text("lacks_inputs")
    )


def downgrade() -> None:
    op.drop_column("campaign_clusters", "lacks_inputs")
    for table in ("cached_inputs", "part_inputs", "campaign_inputs", "sent_inputs", "stored_inputs"):
        op.drop_table(table)
