"""Take back waiting jobs of those above their share"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

OLD_KILLS = ("user", "flood", "waiting_too_long", "walltime", "drain", "hours", "superseded")
OLD_CUTS = (
    *("waiting_limit", "max_jobs", "trial", "scouts", "limit", "user", "project"),
    *("full", "order", "reserved", "forecast", "stress", "max_queued"),
)


def upgrade() -> None:
    op.execute("ALTER TYPE kill_reason ADD VALUE 'fairness'")
    op.execute("ALTER TYPE cut_reason ADD VALUE 'share'")


def downgrade() -> None:
    op.execute("ALTER TYPE kill_reason RENAME TO newer")
    op.execute(f"CREATE TYPE kill_reason AS ENUM ({', '.join(map(repr, OLD_KILLS))})")
    op.execute(
        "ALTER TABLE kills ALTER reason TYPE kill_reason "
        "USING replace(reason::text, 'fairness', 'waiting_too_long')::kill_reason"
    )
    op.execute("DROP TYPE newer")
    op.execute("DELETE FROM cuts WHERE reason = 'share'")
    op.execute("ALTER TYPE cut_reason RENAME TO newer")
    op.execute(f"CREATE TYPE cut_reason AS ENUM ({', '.join(map(repr, OLD_CUTS))})")
    op.execute("ALTER TABLE cuts ALTER reason TYPE cut_reason USING reason::text::cut_reason")
    op.execute("DROP TYPE newer")
