"""Limit what waits of each bucket"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Offers live for a cycle: the next one makes them anew."""
    op.execute("DELETE FROM offers")
    for name in ("at_once", "most_queued"):
        op.add_column("offers", sa.Column(name, sa.BigInteger(), nullable=False))


def downgrade() -> None:
    for name in ("most_queued", "at_once"):
        op.drop_column("offers", name)
