"""Know the clusters that are closed to a submit pool"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """All pools are computed anew."""
    op.add_column("submit_pools", sa.Column("closed", sa.ARRAY(sa.BigInteger()), server_default="{}", nullable=False))
    op.create_index("ix_submit_pools_closed", "submit_pools", ["id"], postgresql_where="closed <> '{}'")
    op.execute("UPDATE grid SET resources_version = resources_version + 1")


def downgrade() -> None:
    op.drop_column("submit_pools", "closed")
