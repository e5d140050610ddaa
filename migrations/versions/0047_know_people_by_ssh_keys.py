"""Know people by signatures of their SSH keys, which give tokens"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

SCOPE = postgresql.ENUM(name="scope", create_type=False)


def upgrade() -> None:
    op.create_table(
        "ssh_keys",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("removed_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ssh_keys")),
        sa.CheckConstraint("fingerprint ~ '^SHA256:[A-Za-z0-9+/]{43}$'", name=op.f("ck_ssh_keys_fingerprint")),
    )
    op.create_index(
        "ix_ssh_keys_grid_user",
        "ssh_keys",
        ["grid_user", "fingerprint"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "challenges",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("scope", SCOPE, nullable=False),
        sa.Column("expires_in", sa.BigInteger(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenges")),
        sa.UniqueConstraint("nonce", name=op.f("uq_challenges_nonce")),
        sa.CheckConstraint("nonce ~ '^[A-Za-z0-9_-]{43}$'", name=op.f("ck_challenges_nonce")),
    )
    op.add_column("tokens", sa.Column("ssh_key_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_tokens_ssh_key_id"), "tokens", "ssh_keys", ["ssh_key_id"], ["id"])
    op.create_index("ix_tokens_ssh_key_id", "tokens", ["ssh_key_id"])


def downgrade() -> None:
    """Tokens that were made by keys stay tokens, until they expire."""
    op.drop_index("ix_tokens_ssh_key_id", "tokens")
    op.drop_column("tokens", "ssh_key_id")
    op.drop_table("challenges")
    op.drop_table("ssh_keys")
