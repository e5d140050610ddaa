"""Share fairly, and serve those who wait"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

KIND = postgresql.ENUM("user", "project", name="subject_kind")


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("served_at", postgresql.TIMESTAMP(timezone=True), nullable=True))
    op.create_table(
        "targets",
        sa.Column("kind", KIND, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("share", sa.DOUBLE_PRECISION(), nullable=False),
        sa.CheckConstraint("share > 0", name=op.f("ck_targets_share")),
        sa.PrimaryKeyConstraint("kind", "name", name=op.f("pk_targets")),
    )
    op.create_table(
        "usages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=True),
        sa.Column("used", sa.DOUBLE_PRECISION(), nullable=False),
        sa.Column("asked", sa.DOUBLE_PRECISION(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_usages_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usages")),
    )


def downgrade() -> None:
    op.drop_table("usages")
    op.drop_table("targets")
    op.drop_column("campaigns", "served_at")
    KIND.drop(op.get_bind())
