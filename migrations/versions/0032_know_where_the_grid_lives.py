"""Know where the grid lives, so that a copy of its database is noticed"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Both are learnt at the next start."""
    op.add_column("grid", sa.Column("identity", sa.Text(), nullable=True))
    op.add_column("grid", sa.Column("place", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("grid", "place")
    op.drop_column("grid", "identity")
