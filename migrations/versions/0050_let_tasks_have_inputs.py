"""Let tasks have inputs of their own, and know on which cluster each of them finds them"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TIMESTAMP

revision = "0050"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("tasks_have_inputs", sa.Boolean(), nullable=False, server_default="false"))
    op.create_index(
        "ix_campaigns_furnished",
        "campaigns",
        ["id"],
        postgresql_where=sa.text("tasks_have_inputs AND state = 'in_treatment'"),
    )
    op.create_table(
        "task_inputs",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "number", "place", name="pk_task_inputs"),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name="fk_task_inputs_campaign_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_task_inputs_sha256", "task_inputs", ["sha256"])
    op.create_table(
        "task_places",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("is_furnished", sa.Boolean(), nullable=False),
        sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "number", name="pk_task_places"),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name="fk_task_places_campaign_id_cluster_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_task_places_campaign_id_cluster_id", "task_places", ["campaign_id", "cluster_id"])


def downgrade() -> None:
    op.drop_table("task_places")
    op.drop_table("task_inputs")
    op.drop_index("ix_campaigns_furnished", "campaigns")
    op.drop_column("campaigns", "tasks_have_inputs")
