"""Tell jobs their features over HTTP"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Jobs of before read theirs in directories."""
    op.add_column("batches", sa.Column("served_features", JSONB(none_as_null=True), nullable=True))


def downgrade() -> None:
    """Who has an address is told nothing there any more."""
    op.drop_column("batches", "served_features")
