"""Declare limits and quotas"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KIND = postgresql.ENUM("user", "project", name="subject_kind", create_type=False)


def upgrade() -> None:
    op.create_table(
        "limits",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("capacity", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("capacity >= 0", name=op.f("ck_limits_capacity")),
        sa.CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name=op.f("ck_limits_name")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_limits")),
    )
    op.create_table(
        "campaign_limits",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("limit_name", sa.Text(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("tokens > 0", name=op.f("ck_campaign_limits_tokens")),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_campaign_limits_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["limit_name"], ["limits.name"], name=op.f("fk_campaign_limits_limit_name")),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", "limit_name", name=op.f("pk_campaign_limits")),
    )
    op.create_index(op.f("ix_campaign_limits_limit_name"), "campaign_limits", ["limit_name"])
    op.create_table(
        "quotas",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("kind", KIND, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("cores", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("cores >= 0", name=op.f("ck_quotas_cores")),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_quotas_cluster_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quotas")),
    )
    for name, columns, condition in (
        ("uq_quotas_grid", ["kind", "name"], "cluster_id IS NULL"),
        ("uq_quotas_cluster", ["kind", "name", "cluster_id"], "cluster_id IS NOT NULL"),
    ):
        op.create_index(name, "quotas", columns, unique=True, postgresql_where=condition)


def downgrade() -> None:
    op.drop_table("quotas")
    op.drop_table("campaign_limits")
    op.drop_table("limits")
