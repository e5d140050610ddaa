"""Know how many SSH sessions each module has open on each cluster"""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("command_counts", sa.Column("sessions", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("command_counts", "sessions")
