"""Count the remote commands of each module on each cluster, and their seconds, from now on"""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "command_counts",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("module", sa.Text(), nullable=False),
        sa.Column("commands", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_command_counts_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "module", name=op.f("pk_command_counts")),
    )


def downgrade() -> None:
    op.drop_table("command_counts")
