"""Let users order their own campaigns"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("own_priority", sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("campaigns", "own_priority")
