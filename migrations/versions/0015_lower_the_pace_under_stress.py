"""Lower the pace under stress"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

OLD_REASONS = (
    *("waiting_limit", "max_jobs", "trial", "scouts", "limit", "user", "project"),
    *("full", "order", "reserved", "forecast"),
)


def upgrade() -> None:
    op.execute("ALTER TYPE cut_reason ADD VALUE 'stress'")
    op.create_table(
        "cluster_paces",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("pace", sa.DOUBLE_PRECISION(), nullable=False),
        sa.Column("usual", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("refused", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("pace > 0 AND pace <= 1", name=op.f("ck_cluster_paces_pace")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_paces_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_cluster_paces")),
    )


def downgrade() -> None:
    op.drop_table("cluster_paces")
    op.execute("DELETE FROM cuts WHERE reason = 'stress'")
    op.execute("ALTER TYPE cut_reason RENAME TO newer")
    op.execute(f"CREATE TYPE cut_reason AS ENUM ({', '.join(map(repr, OLD_REASONS))})")
    op.execute("ALTER TABLE cuts ALTER reason TYPE cut_reason USING reason::text::cut_reason")
    op.execute("DROP TYPE newer")
