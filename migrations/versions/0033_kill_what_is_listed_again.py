"""Kill what is listed again"""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

OLD = ("user", "flood", "waiting_too_long", "walltime", "drain", "hours", "superseded", "fairness")


def upgrade() -> None:
    op.execute("ALTER TYPE kill_reason ADD VALUE 'listed_again'")


def downgrade() -> None:
    """Such jobs are left to their walltime."""
    op.execute("DELETE FROM kills WHERE reason = 'listed_again'")
    op.execute("ALTER TYPE kill_reason RENAME TO newer")
    op.execute(f"CREATE TYPE kill_reason AS ENUM ({', '.join(map(repr, OLD))})")
    op.execute("ALTER TABLE kills ALTER reason TYPE kill_reason USING reason::text::kill_reason")
    op.execute("DROP TYPE newer")
