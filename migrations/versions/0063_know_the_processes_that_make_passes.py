"""Know the processes that make passes"""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "processes",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("leader", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("activity", sa.Text(), server_default="", nullable=False),
        sa.Column("activity_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("silent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("late_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("host", "pid", name=op.f("pk_processes")),
    )


def downgrade() -> None:
    op.drop_table("processes")
