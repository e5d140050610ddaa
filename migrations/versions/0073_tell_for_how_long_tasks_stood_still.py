"""Tell for how long tasks stood still"""

import sqlalchemy as sa
from alembic import op

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What ended before keeps its seconds, among which are those for which it stood still."""
    op.add_column("attempts", sa.Column("halted_seconds", sa.Double(), nullable=False, server_default="0"))


def downgrade() -> None:
    """The seconds are as of before those for which tasks stood still."""
    op.execute("UPDATE attempts SET seconds = seconds + halted_seconds WHERE halted_seconds > 0")
    op.drop_column("attempts", "halted_seconds")
