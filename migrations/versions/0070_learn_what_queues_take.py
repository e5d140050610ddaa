"""Learn what queues take"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None

OLD_REASONS = (
    *("waiting_limit", "max_jobs", "trial", "scouts", "limit"),
    *("quota_cores", "quota_jobs", "quota_core_hours"),
    *("full", "order", "reserved", "forecast", "stress", "max_queued", "share", "tests"),
)
CLOSE = "UPDATE events SET closed_at = now(), closed_by = 'cigri' WHERE code = 'QUEUE_LIMIT' AND closed_at IS NULL"


def upgrade() -> None:
    op.execute("ALTER TYPE cut_reason ADD VALUE 'queue_limit'")
    op.create_table(
        "queue_limits",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("local_user", sa.Text(), nullable=False),
        sa.Column("most", sa.BigInteger(), nullable=False),
        sa.Column("refused", sa.BigInteger(), nullable=True),
        sa.Column("misses", sa.BigInteger(), nullable=False),
        sa.Column("looks", sa.BigInteger(), nullable=False),
        sa.Column("look_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("counts_arrays", sa.Boolean(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.CheckConstraint("refused > most", name=op.f("ck_queue_limits_refused")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_queue_limits_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "local_user", name=op.f("pk_queue_limits")),
    )


def downgrade() -> None:
    """No version before heals the events about it."""
    op.execute(CLOSE)
    op.drop_table("queue_limits")
    op.execute("DELETE FROM cuts WHERE reason = 'queue_limit'")
    op.execute("ALTER TYPE cut_reason RENAME TO newer")
    op.execute(f"CREATE TYPE cut_reason AS ENUM ({', '.join(map(repr, OLD_REASONS))})")
    op.execute("ALTER TABLE cuts ALTER reason TYPE cut_reason USING reason::text::cut_reason")
    op.execute("DROP TYPE newer")
