"""Keep the notice that jobs were promised"""

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("promised_notice", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("batches", "promised_notice")
