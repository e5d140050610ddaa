"""Know browsers by sessions, which a link begins once"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("scope", postgresql.ENUM(name="scope", create_type=False), nullable=False),
        sa.Column("link_sha256", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("ended_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("link_sha256", name=op.f("uq_sessions_link_sha256")),
        sa.UniqueConstraint("sha256", name=op.f("uq_sessions_sha256")),
        sa.CheckConstraint("link_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_sessions_link_sha256")),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_sessions_sha256")),
        sa.CheckConstraint(
            "expires_at > created_at AND expires_at <= created_at + interval '1 day'",
            name=op.f("ck_sessions_expires_at"),
        ),
    )
    op.create_index("ix_sessions_grid_user", "sessions", ["grid_user"])


def downgrade() -> None:
    op.drop_table("sessions")
