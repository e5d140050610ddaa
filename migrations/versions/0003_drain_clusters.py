"""Drain clusters"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

OLD_REASONS = ("user", "flood", "waiting_too_long", "walltime")


def upgrade() -> None:
    op.execute("ALTER TYPE kill_reason ADD VALUE 'drain'")
    op.create_table(
        "drains",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("deadline", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("kills", sa.Boolean(), nullable=False),
        sa.Column("keep", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.CheckConstraint("keep >= 0", name=op.f("ck_drains_keep")),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_drains_cluster_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_drains")),
    )
    op.create_table(
        "shutdowns",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("was_heard", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_shutdowns_job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_shutdowns")),
    )


def downgrade() -> None:
    """No value can be taken from an enum: a new one, in which the jobs of a drained cluster waited too long."""
    op.drop_table("shutdowns")
    op.drop_table("drains")
    op.execute("ALTER TYPE kill_reason RENAME TO old_kill_reason")
    op.execute(f"CREATE TYPE kill_reason AS ENUM ({', '.join(repr(word) for word in OLD_REASONS)})")
    op.execute(
        "ALTER TABLE kills ALTER reason TYPE kill_reason "
        "USING replace(reason::text, 'drain', 'waiting_too_long')::kill_reason"
    )
    op.execute("DROP TYPE old_kill_reason")
