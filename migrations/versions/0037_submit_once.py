"""Submit a campaign once, however often it is sent"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

IS_KEYED = sa.text("submission_key IS NOT NULL")


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("submission_key", sa.Text()))
    columns = ["grid_user", "submission_key"]
    op.create_index("ix_campaigns_grid_user_submission_key", "campaigns", columns, postgresql_where=IS_KEYED)


def downgrade() -> None:
    op.drop_index("ix_campaigns_grid_user_submission_key", "campaigns")
    op.drop_column("campaigns", "submission_key")
