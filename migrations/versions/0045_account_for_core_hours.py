"""Account for the core-hours of ended jobs by day, user, project and cluster"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

KEY = ("day", "grid_user", "project", "cluster", "outcome", "is_replica")
SO_FAR = """
INSERT INTO accounting (day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds, is_sum)
    SELECT day, grid_user, coalesce(projects.name, ''), clusters.name, jobs.outcome, of.is_replica,
           count(*) FILTER (WHERE day = date_trunc('day', jobs.ended_at, 'UTC')),
           sum(width * greatest(extract(epoch FROM
               least(jobs.ended_at, day + interval '1 day') - greatest(jobs.started_at, day)), 0)),
           true
    FROM jobs
    JOIN campaigns ON campaigns.id = jobs.campaign_id
    JOIN clusters ON clusters.id = jobs.cluster_id
    LEFT JOIN projects ON projects.id = campaigns.project_id
    CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM attempts WHERE job_id = jobs.id AND attempts.is_replica) AS is_replica
    ) AS of
    CROSS JOIN LATERAL generate_series(
        date_trunc('day', greatest(least(jobs.started_at, jobs.ended_at), jobs.ended_at - interval '400 days'), 'UTC'),
        jobs.ended_at, interval '1 day'
    ) AS day
    WHERE jobs.outcome IS NOT NULL AND jobs.started_at IS NOT NULL
    GROUP BY day, grid_user, coalesce(projects.name, ''), clusters.name, jobs.outcome, of.is_replica
"""


def upgrade() -> None:
    op.create_table(
        "accounting",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("day", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("outcome", postgresql.ENUM(name="outcome", create_type=False), nullable=False),
        sa.Column("is_replica", sa.Boolean(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("core_seconds", sa.Double(), nullable=False),
        sa.Column("is_sum", sa.Boolean(), nullable=False, server_default="false"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounting")),
    )
    op.create_index("ix_accounting_sums", "accounting", list(KEY), unique=True, postgresql_where="is_sum")
    op.create_index("ix_accounting_news", "accounting", ["id"], postgresql_where="NOT is_sum")
    op.execute(SO_FAR)


def downgrade() -> None:
    op.drop_table("accounting")
