"""Choose how often tasks save their state: batches keep what was chosen, and from what"""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

NUMBERS = ("checkpoint_period", "checkpoint_life", "checkpoint_cost")
CHECK = "num_nulls(checkpoint_period, checkpoint_life, checkpoint_cost) IN (0, 3) AND checkpoint_period > 0"


def upgrade() -> None:
    period, *seconds = NUMBERS
    op.add_column("batches", sa.Column(period, sa.BigInteger(), nullable=True))
    for name in seconds:
        op.add_column("batches", sa.Column(name, sa.Double(), nullable=True))
    op.create_check_constraint(op.f("ck_batches_checkpoint"), "batches", CHECK)


def downgrade() -> None:
    op.drop_constraint(op.f("ck_batches_checkpoint"), "batches")
    for name in NUMBERS:
        op.drop_column("batches", name)
