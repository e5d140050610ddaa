"""Test every cluster"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

OLD_CUTS = (
    *("waiting_limit", "max_jobs", "trial", "scouts", "limit", "user", "project"),
    *("full", "order", "reserved", "forecast", "stress", "max_queued", "share"),
)
FIRST_OF_EACH = "SELECT id, min(id) OVER (PARTITION BY campaign_id, requirements) AS first FROM buckets"


def upgrade() -> None:
    """The tasks of tests that were submitted before may go to any of their clusters, as they might."""
    op.execute("ALTER TYPE cut_reason ADD VALUE 'tests'")
    op.add_column("buckets", sa.Column("cluster_id", sa.BigInteger(), sa.ForeignKey("clusters.id"), nullable=True))
    op.drop_constraint("uq_buckets_campaign_id_requirements", "buckets")
    for name, column, where in (("anywhere", "requirements", "IS NULL"), ("tested", "cluster_id", "IS NOT NULL")):
        index = f"uq_buckets_{name}", "buckets", ["campaign_id", column]
        op.create_index(*index, unique=True, postgresql_where=sa.text(f"cluster_id {where}"))


def downgrade() -> None:
    """The tasks of tests may go to any of their clusters again."""
    for name in ("tested", "anywhere"):
        op.drop_index(f"uq_buckets_{name}", "buckets")
    op.execute("CREATE TEMPORARY TABLE kept ON COMMIT DROP AS " + FIRST_OF_EACH)
    op.execute("UPDATE tasks SET bucket_id = kept.first FROM kept WHERE bucket_id = kept.id")
    op.execute("UPDATE jobs SET bucket_id = kept.first FROM kept WHERE bucket_id = kept.id")
    op.execute("DELETE FROM buckets USING kept WHERE buckets.id = kept.id AND kept.id <> kept.first")
    op.execute("DROP TABLE kept")
    op.drop_column("buckets", "cluster_id")
    op.create_unique_constraint("uq_buckets_campaign_id_requirements", "buckets", ["campaign_id", "requirements"])
    op.execute("DELETE FROM cuts WHERE reason = 'tests'")
    op.execute("ALTER TYPE cut_reason RENAME TO newer")
    op.execute(f"CREATE TYPE cut_reason AS ENUM ({', '.join(map(repr, OLD_CUTS))})")
    op.execute("ALTER TABLE cuts ALTER reason TYPE cut_reason USING reason::text::cut_reason")
    op.execute("DROP TYPE newer")
