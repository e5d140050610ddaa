"""Know people by tokens where no socket tells who they are"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

SCOPE = postgresql.ENUM("read", "submit", "operate", name="scope", create_type=False)


def upgrade() -> None:
    SCOPE.create(op.get_bind())
    op.create_table(
        "tokens",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("scope", SCOPE, nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_tokens_sha256")),
        sa.CheckConstraint(
            "expires_at > created_at AND expires_at <= created_at + interval '90 days'",
            name=op.f("ck_tokens_expires_at"),
        ),
    )
    op.create_index("ix_tokens_grid_user", "tokens", ["grid_user"])


def downgrade() -> None:
    op.drop_table("tokens")
    SCOPE.drop(op.get_bind())
