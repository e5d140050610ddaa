"""Tell no CPU factor that nobody declared"""

from alembic import op

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None

CHANGE = """
    UPDATE clusters SET config = jsonb_set(config, '{{features,cpufactor_lrms}}', '{new}')
    WHERE config #> '{{features,cpufactor_lrms}}' = '{old}'
"""


def upgrade() -> None:
    op.execute(CHANGE.format(old="1.0", new="null"))  # the default of before was stored with each cluster


def downgrade() -> None:
    op.execute(CHANGE.format(old="null", new="1.0"))
