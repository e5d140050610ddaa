"""Keep what accounting has of jobs that are archived, so that it can be rebuilt"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

KEY = ("day", "grid_user", "project", "cluster", "outcome", "is_replica")
BEYOND_THE_JOBS = """
INSERT INTO archived_accounting (day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds)
    SELECT day, grid_user, project, cluster, outcome, is_replica,
           greatest(sum(jobs), 0), greatest(sum(core_seconds), 0)
    FROM (
        SELECT day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds FROM accounting
        UNION ALL
        SELECT day, grid_user, coalesce(projects.name, ''), clusters.name, jobs.outcome, of.is_replica,
               -(day = date_trunc('day', jobs.ended_at, 'UTC'))::int,
               -width * greatest(extract(epoch FROM
                   least(jobs.ended_at, day + interval '1 day') - greatest(jobs.started_at, day)), 0)
        FROM jobs
        JOIN campaigns ON campaigns.id = jobs.campaign_id
        JOIN clusters ON clusters.id = jobs.cluster_id
        LEFT JOIN projects ON projects.id = campaigns.project_id
        CROSS JOIN LATERAL (
            SELECT EXISTS (SELECT FROM attempts WHERE job_id = jobs.id AND attempts.is_replica) AS is_replica
        ) AS of
        CROSS JOIN LATERAL generate_series(
            date_trunc('day',
                greatest(least(jobs.started_at, jobs.ended_at), jobs.ended_at - interval '400 days'), 'UTC'),
            jobs.ended_at, interval '1 day'
        ) AS day
        WHERE jobs.outcome IS NOT NULL AND jobs.started_at IS NOT NULL
    ) AS counted
    GROUP BY day, grid_user, project, cluster, outcome, is_replica
    HAVING sum(jobs) > 0 OR sum(core_seconds) > 0.001 + 1e-9 * sum(abs(core_seconds))
"""


def upgrade() -> None:
    op.execute("LOCK TABLE jobs IN SHARE MODE")  # none is archived before the migrations behind this have seen it
    op.create_table(
        "archived_accounting",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("day", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("cluster", sa.Text(), nullable=False),
        sa.Column("outcome", postgresql.ENUM(name="outcome", create_type=False), nullable=False),
        sa.Column("is_replica", sa.Boolean(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("core_seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archived_accounting")),
    )
    op.create_index("uq_archived_accounting", "archived_accounting", list(KEY), unique=True)
    op.execute(BEYOND_THE_JOBS)


def downgrade() -> None:
    op.drop_table("archived_accounting")
