"""Choose the nodes of eligible queues"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """All pools are computed anew."""
    condition = sa.Column("condition", postgresql.JSONB(none_as_null=True), nullable=True)
    op.add_column("submit_pool_queues", condition)
    op.execute("UPDATE grid SET resources_version = resources_version + 1")


def downgrade() -> None:
    op.drop_column("submit_pool_queues", "condition")
