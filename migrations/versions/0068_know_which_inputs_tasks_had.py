"""Know which inputs tasks had"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What is there has the inputs that it was submitted with, the first ones."""
    op.add_column("campaigns", sa.Column("sent_from", sa.Text(), nullable=True))
    for name in ("campaign_clusters", "batches"):
        op.add_column(name, sa.Column("inputs_version", sa.BigInteger(), server_default="1", nullable=False))
    op.create_table(
        "earlier_inputs",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("inputs", JSONB(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", "version", name=op.f("pk_earlier_inputs")),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_earlier_inputs_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
    )


def downgrade() -> None:
    """Which of its inputs a task had is forgotten; those of now stay."""
    op.drop_table("earlier_inputs")
    for name in ("batches", "campaign_clusters"):
        op.drop_column(name, "inputs_version")
    op.drop_column("campaigns", "sent_from")
