"""Let operators say who goes first"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("priority", sa.BigInteger(), server_default="0", nullable=False))
    op.create_table(
        "affinities",
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_affinities_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("grid_user", "cluster_id", name=op.f("pk_affinities")),
    )


def downgrade() -> None:
    op.drop_table("affinities")
    op.drop_column("campaigns", "priority")
