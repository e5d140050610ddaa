"""Leave forgotten campaigns out of lists"""

import sqlalchemy as sa
from alembic import op

revision = "0077"
down_revision = "0076"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("forgotten_at", sa.DateTime(timezone=True)))
    is_over = "forgotten_at IS NULL OR ended_at IS NOT NULL"
    op.create_check_constraint(op.f("ck_campaigns_forgotten"), "campaigns", is_over)


def downgrade() -> None:
    """Lists show all campaigns again."""
    op.drop_constraint(op.f("ck_campaigns_forgotten"), "campaigns")
    op.drop_column("campaigns", "forgotten_at")
