"""Limit what waits by bucket"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

OLD_REASONS = (
    *("waiting_limit", "max_jobs", "trial", "scouts", "limit", "user", "project"),
    *("full", "order", "reserved", "forecast", "stress"),
)


def upgrade() -> None:
    op.execute("ALTER TYPE cut_reason ADD VALUE 'max_queued'")


def downgrade() -> None:
    op.execute("DELETE FROM cuts WHERE reason = 'max_queued'")
    op.execute("ALTER TYPE cut_reason RENAME TO newer")
    op.execute(f"CREATE TYPE cut_reason AS ENUM ({', '.join(map(repr, OLD_REASONS))})")
    op.execute("ALTER TABLE cuts ALTER reason TYPE cut_reason USING reason::text::cut_reason")
    op.execute("DROP TYPE newer")
