"""Drain nodes"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "node_drains",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_node_drains_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "node", name=op.f("pk_node_drains")),
    )
    for name in ("machine_only", "is_past"):
        op.add_column("shutdowns", sa.Column(name, sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    """What a job was told of its machine only is forgotten; it is over by then."""
    op.execute("DELETE FROM shutdowns WHERE machine_only")
    for name in ("is_past", "machine_only"):
        op.drop_column("shutdowns", name)
    op.drop_table("node_drains")
