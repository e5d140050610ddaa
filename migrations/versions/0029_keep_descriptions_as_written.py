"""Keep descriptions as written"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What was submitted before is shown as the settings that came of it. JSON, not JSONB: a sweep has an order."""
    op.add_column("campaigns", sa.Column("written", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("campaigns", "written")
