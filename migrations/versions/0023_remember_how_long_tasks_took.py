"""Remember how long tasks took"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

COUNT_BEFORE = """
CREATE OR REPLACE FUNCTION count_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO task_counts (campaign_id, state, n)
            SELECT campaign_id, state, count(*) FROM new_tasks GROUP BY campaign_id, state;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO task_counts (campaign_id, state, n)
            SELECT campaign_id, state, -count(*) FROM old_tasks GROUP BY campaign_id, state;
    ELSE
        INSERT INTO task_counts (campaign_id, state, n)
            SELECT campaign_id, state, sum(n) FROM (
                SELECT campaign_id, state, 1 AS n FROM new_tasks
                UNION ALL SELECT campaign_id, state, -1 FROM old_tasks
            ) AS moved GROUP BY campaign_id, state HAVING sum(n) <> 0;
    END IF;
    RETURN NULL;
END $$
"""
COUNT = """
CREATE OR REPLACE FUNCTION count_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, count(*), count(expected), coalesce(sum(expected), 0)
            FROM new_tasks GROUP BY campaign_id, state;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, -count(*), -count(expected), -coalesce(sum(expected), 0)
            FROM old_tasks GROUP BY campaign_id, state;
    ELSE
        INSERT INTO task_counts (campaign_id, state, n, known, expected)
            SELECT campaign_id, state, sum(n), coalesce(sum(n) FILTER (WHERE expected IS NOT NULL), 0),
                   coalesce(sum(n * expected), 0)
            FROM (
                SELECT campaign_id, state, expected, 1 AS n FROM new_tasks
                UNION ALL SELECT campaign_id, state, expected, -1 FROM old_tasks
            ) AS moved GROUP BY campaign_id, state
            HAVING sum(n) <> 0 OR sum(n) FILTER (WHERE expected IS NOT NULL) <> 0;
    END IF;
    RETURN NULL;
END $$
"""
IS_NEW = "state = 'waiting' AND checkpoint_cluster_id IS NULL"
REMAINS = "state IN ('waiting', 'assigned') AND expected IS NOT NULL"
IS_UNMATCHED = "unmatched_from IS NOT NULL AND state IN ('in_treatment', 'paused')"


def upgrade() -> None:
    """Campaigns of before are not looked up: nothing is remembered yet."""
    op.create_table(
        "last_durations",
        sa.Column("command", sa.Uuid(), nullable=False),
        sa.Column("parameter", sa.Uuid(), nullable=False),
        sa.Column("seconds", sa.DOUBLE_PRECISION(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("command", "parameter", name=op.f("pk_last_durations")),
    )
    op.add_column("tasks", sa.Column("expected", sa.DOUBLE_PRECISION(), nullable=True))
    op.drop_index("ix_tasks_waiting", table_name="tasks")
    op.create_index(
        "ix_tasks_waiting",
        "tasks",
        ["bucket_id", sa.text("priority DESC"), sa.text("expected DESC"), "id"],
        postgresql_where=IS_NEW,
    )
    op.create_index("ix_tasks_expected", "tasks", ["campaign_id", "expected"], postgresql_where=REMAINS)
    op.add_column("task_counts", sa.Column("known", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("task_counts", sa.Column("expected", sa.DOUBLE_PRECISION(), server_default="0", nullable=False))
    op.execute(COUNT)
    op.add_column("campaigns", sa.Column("unmatched_from", sa.BigInteger(), nullable=True))
    op.alter_column("campaigns", "unmatched_from", server_default="0")
    op.create_index("ix_campaigns_unmatched", "campaigns", ["id"], postgresql_where=IS_UNMATCHED)


def downgrade() -> None:
    op.drop_index("ix_campaigns_unmatched", table_name="campaigns")
    op.drop_column("campaigns", "unmatched_from")
    op.execute(COUNT_BEFORE)
    op.drop_column("task_counts", "expected")
    op.drop_column("task_counts", "known")
    op.drop_index("ix_tasks_expected", table_name="tasks")
    op.drop_index("ix_tasks_waiting", table_name="tasks")
    op.create_index("ix_tasks_waiting", "tasks", ["bucket_id", sa.text("priority DESC"), "id"], postgresql_where=IS_NEW)
    op.drop_column("tasks", "expected")
    op.drop_table("last_durations")
