"""Limit what waits over all campaigns that ask for the same"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

ASKING = ("resources", "walltime", "type", "types", "queue", "properties", "backend")
ASKED = " || '/' || ".join(f"coalesce((settings -> '{name}')::text, '')" for name in ASKING)


def upgrade() -> None:
    """Offers live for a cycle: the next one makes them anew."""
    op.execute("DELETE FROM offers")
    op.add_column("offers", sa.Column("starting", sa.BigInteger(), nullable=False))
    asked = sa.Computed(f"hashtextextended({ASKED}, 0)", persisted=True)
    op.add_column("campaign_clusters", sa.Column("asked", sa.BigInteger(), asked, nullable=False))


def downgrade() -> None:
    op.drop_column("campaign_clusters", "asked")
    op.drop_column("offers", "starting")
