"""Account for the types of jobs and the core-hours that were asked for"""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

TABLES = ("accounting", "archived_accounting")
KEY = ("day", "grid_user", "project", "cluster", "outcome", "is_replica")
REBUILT = """
INSERT INTO accounting
    (day, grid_user, project, cluster, outcome, is_replica, type, jobs, core_seconds, asked, is_sum)
    SELECT day, grid_user, project, cluster, outcome, is_replica, type, sum(jobs), sum(core_seconds), sum(asked), true
    FROM (
        SELECT day, grid_user, project, cluster, outcome, is_replica, type, jobs, core_seconds, asked
        FROM archived_accounting
        UNION ALL
        SELECT day, grid_user, coalesce(projects.name, ''), clusters.name, jobs.outcome, of.is_replica,
               coalesce(part.settings ->> 'type', 'best-effort'),
               of_day.is_last::int,
               jobs.width * greatest(extract(epoch FROM
                   least(jobs.ended_at, day + interval '1 day') - greatest(jobs.started_at, day)), 0),
               jobs.width * jobs.walltime * of_day.is_last::int
        FROM jobs
        JOIN campaigns ON campaigns.id = jobs.campaign_id
        JOIN clusters ON clusters.id = jobs.cluster_id
        JOIN campaign_clusters AS part
            ON part.campaign_id = jobs.campaign_id AND part.cluster_id = jobs.cluster_id
        LEFT JOIN projects ON projects.id = campaigns.project_id
        CROSS JOIN LATERAL (
            SELECT EXISTS (SELECT FROM attempts WHERE job_id = jobs.id AND attempts.is_replica) AS is_replica
        ) AS of
        CROSS JOIN LATERAL generate_series(
            date_trunc('day',
                greatest(least(jobs.started_at, jobs.ended_at), jobs.ended_at - interval '400 days'), 'UTC'),
            jobs.ended_at, interval '1 day'
        ) AS day
        CROSS JOIN LATERAL (SELECT day = date_trunc('day', jobs.ended_at, 'UTC') AS is_last) AS of_day
        WHERE jobs.outcome IS NOT NULL AND jobs.started_at IS NOT NULL
    ) AS every
    GROUP BY day, grid_user, project, cluster, outcome, is_replica, type
"""
OF_ALL_TYPES = """
WITH gone AS (DELETE FROM {table} RETURNING *)
INSERT INTO {table} (day, grid_user, project, cluster, outcome, is_replica, jobs, core_seconds{more})
    SELECT day, grid_user, project, cluster, outcome, is_replica, sum(jobs), sum(core_seconds){value}
    FROM gone GROUP BY day, grid_user, project, cluster, outcome, is_replica
"""


def upgrade() -> None:
    _drop_indexes()
    for table in TABLES:
        op.add_column(table, sa.Column("type", sa.Text(), nullable=False, server_default=""))
        op.add_column(table, sa.Column("asked", sa.Double(), nullable=False, server_default="0"))
    op.execute("DELETE FROM accounting")
    op.execute(REBUILT)
    _create_indexes((*KEY, "type"))


def downgrade() -> None:
    _drop_indexes()
    op.execute(OF_ALL_TYPES.format(table="accounting", more=", is_sum", value=", true"))
    op.execute(OF_ALL_TYPES.format(table="archived_accounting", more="", value=""))
    for table in TABLES:
        op.drop_column(table, "type")
        op.drop_column(table, "asked")
    _create_indexes(KEY)


def _drop_indexes() -> None:
    op.drop_index("ix_accounting_sums", "accounting")
    op.drop_index("uq_archived_accounting", "archived_accounting")


def _create_indexes(key: tuple[str, ...]) -> None:
    op.create_index("ix_accounting_sums", "accounting", list(key), unique=True, postgresql_where="is_sum")
    op.create_index("uq_archived_accounting", "archived_accounting", list(key), unique=True)
