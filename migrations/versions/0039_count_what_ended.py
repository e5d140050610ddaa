"""Count what has ended on each cluster, and how, since the grid began"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

SO_FAR = """
INSERT INTO end_counts (cluster_id, outcome, is_replica, attempts, jobs, core_seconds)
    SELECT cluster_id, outcome, is_replica, 0, count(*),
           coalesce(sum(width * extract(epoch FROM greatest(ended_at - started_at, interval '0'))), 0)
    FROM jobs CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM attempts WHERE job_id = jobs.id AND attempts.is_replica) AS is_replica
    ) AS of
    WHERE outcome IS NOT NULL GROUP BY cluster_id, outcome, is_replica
    UNION ALL
    SELECT cluster_id, attempts.outcome, is_replica, count(*), 0, 0
    FROM attempts JOIN jobs ON jobs.id = job_id
    WHERE attempts.outcome IS NOT NULL GROUP BY cluster_id, attempts.outcome, is_replica
"""


def upgrade() -> None:
    op.create_table(
        "end_counts",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("outcome", postgresql.ENUM(name="outcome", create_type=False), nullable=False),
        sa.Column("is_replica", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("core_seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_end_counts_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_end_counts")),
    )
    op.execute(SO_FAR)


def downgrade() -> None:
    op.drop_table("end_counts")
