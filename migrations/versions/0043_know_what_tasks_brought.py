"""Know how many files, and bytes, attempts at tasks have left as their outputs"""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

COLUMNS = ("files", "bytes")


def upgrade() -> None:
    for column in COLUMNS:
        op.add_column("attempts", sa.Column(column, sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    for column in reversed(COLUMNS):
        op.drop_column("attempts", column)
