"""Know what was sent with a key, so that it is not used for anything else"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("submission_digest", sa.Text()))


def downgrade() -> None:
    op.drop_column("campaigns", "submission_digest")
