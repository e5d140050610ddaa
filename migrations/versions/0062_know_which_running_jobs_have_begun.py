"""Know which running jobs have begun"""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

OLD = ("user", "flood", "waiting_too_long", "walltime", "drain", "hours", "superseded", "fairness", "listed_again")


def upgrade() -> None:
    op.execute("ALTER TYPE kill_reason ADD VALUE 'not_started'")
    op.add_column("jobs", sa.Column("has_begun", sa.Boolean(), nullable=True))


def downgrade() -> None:
    """What never started is left to its walltime, and to those who ask for its death then."""
    op.drop_column("jobs", "has_begun")
    op.execute("DELETE FROM kills WHERE reason = 'not_started'")
    op.execute("ALTER TYPE kill_reason RENAME TO newer")
    op.execute(f"CREATE TYPE kill_reason AS ENUM ({', '.join(map(repr, OLD))})")
    op.execute("ALTER TABLE kills ALTER reason TYPE kill_reason USING reason::text::kill_reason")
    op.execute("DROP TYPE newer")
