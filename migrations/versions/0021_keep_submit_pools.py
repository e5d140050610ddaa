"""Keep submit pools"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

TIME = postgresql.TIMESTAMP(timezone=True)
CODES = (
    *("absent", "different", "too_small", "too_large", "site", "banned_site", "expression", "job_refused"),
    *("not_selectable", "unknown"),
)


def upgrade() -> None:
    """Buckets of before have no pool: they go wherever they went."""
    op.add_column("campaigns", sa.Column("wanted", postgresql.JSONB(none_as_null=True), nullable=True))
    op.add_column("campaigns", sa.Column("anywhere", postgresql.JSONB(none_as_null=True), nullable=True))
    op.create_table(
        "submit_pools",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("requirements", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submit_pools")),
        sa.UniqueConstraint("digest", "project", name=op.f("uq_submit_pools_digest_project")),
    )
    op.create_index(op.f("ix_submit_pools_version"), "submit_pools", ["version"])
    op.create_index(op.f("ix_submit_pools_updated_at"), "submit_pools", ["updated_at"])
    _pool_queues()
    op.create_table(
        "bucket_pools",
        sa.Column("bucket_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("pool_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bucket_id"], ["buckets.id"], name=op.f("fk_bucket_pools_bucket_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_bucket_pools_cluster_id")),
        sa.ForeignKeyConstraint(
            ["pool_id"], ["submit_pools.id"], name=op.f("fk_bucket_pools_pool_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bucket_id", "cluster_id", name=op.f("pk_bucket_pools")),
    )
    op.create_index(op.f("ix_bucket_pools_pool_id_cluster_id"), "bucket_pools", ["pool_id", "cluster_id"])


def _pool_queues() -> None:
    code = postgresql.ENUM(*CODES, name="reject_code")
    words = (sa.Column(name, sa.Text(), nullable=False) for name in ("name", "wanted", "found"))
    tables = {"submit_pool_queues": (), "submit_pool_rejects": (sa.Column("code", code, nullable=False), *words)}
    for table, about in tables.items():
        op.create_table(
            table,
            sa.Column("pool_id", sa.BigInteger(), nullable=False),
            sa.Column("queue_id", sa.BigInteger(), nullable=False),
            *about,
            sa.Column("at", TIME, nullable=False),
            sa.ForeignKeyConstraint(
                ["pool_id"], ["submit_pools.id"], name=op.f(f"fk_{table}_pool_id"), ondelete="CASCADE"
            ),
            sa.ForeignKeyConstraint(["queue_id"], ["queues.id"], name=op.f(f"fk_{table}_queue_id"), ondelete="CASCADE"),
            sa.PrimaryKeyConstraint("pool_id", "queue_id", name=op.f(f"pk_{table}")),
        )
        op.create_index(op.f(f"ix_{table}_queue_id"), table, ["queue_id"])


def downgrade() -> None:
    for table in ("bucket_pools", "submit_pool_rejects", "submit_pool_queues", "submit_pools"):
        op.drop_table(table)
    op.execute("DROP TYPE reject_code")
    op.drop_column("campaigns", "anywhere")
    op.drop_column("campaigns", "wanted")
