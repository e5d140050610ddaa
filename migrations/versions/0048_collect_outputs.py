"""Collect outputs: what is to come back from clusters by itself, and how much of it has"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

MOMENT = TIMESTAMP(timezone=True)
COUNTS = ("uncollected", "uncollected_bytes", "collected", "lost")
IS_AWAITED = "collected_at IS NULL AND lost_at IS NULL"
IS_KEPT = "collected_at IS NOT NULL AND removed_at IS NULL"


def upgrade() -> None:
    op.create_table(
        "parcels",
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("attempt", "campaign_id", "cluster_id", "files", "bytes")
        ),
        sa.Column("ended_at", MOMENT, nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("collected_at", MOMENT),
        sa.Column("lost_at", MOMENT),
        sa.Column("is_delivered", sa.Boolean(), nullable=False, server_default="false"),
        sa.Column("remove_at", MOMENT),
        sa.Column("removed_at", MOMENT),
        sa.PrimaryKeyConstraint("task_id", name="pk_parcels"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_parcels_task_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name="fk_parcels_campaign_id_cluster_id",
            ondelete="CASCADE",
        ),
        sa.CheckConstraint("collected_at IS NULL OR lost_at IS NULL", name=op.f("ck_parcels_one_end")),
        sa.CheckConstraint("(collected_at IS NULL) = (remove_at IS NULL)", name=op.f("ck_parcels_remove_at")),
        sa.CheckConstraint("removed_at IS NULL OR collected_at IS NOT NULL", name=op.f("ck_parcels_removed_at")),
    )
    awaited = ["campaign_id", "cluster_id", "ended_at", "task_id"]
    op.create_index("ix_parcels_awaited", "parcels", awaited, postgresql_where=sa.text(IS_AWAITED))
    op.create_index("ix_parcels_kept", "parcels", ["cluster_id", "remove_at"], postgresql_where=sa.text(IS_KEPT))
    op.create_index("ix_parcels_campaign_id_cluster_id", "parcels", ["campaign_id", "cluster_id"])
    for name in COUNTS:
        op.add_column("campaign_clusters", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("campaign_clusters", sa.Column("outputs_wait", sa.Boolean(), nullable=False, server_default="false"))
    op.create_check_constraint(
        op.f("ck_campaign_clusters_uncollected"), "campaign_clusters", "uncollected >= 0 AND uncollected_bytes >= 0"
    )
    op.create_index(
        "ix_campaign_clusters_collecting",
        "campaign_clusters",
        ["cluster_id"],
        postgresql_where=sa.text("uncollected > 0"),
    )


def downgrade() -> None:
    op.drop_index("ix_campaign_clusters_collecting", "campaign_clusters")
    for name in ("outputs_wait", *reversed(COUNTS)):
        op.drop_column("campaign_clusters", name)
    op.drop_table("parcels")
