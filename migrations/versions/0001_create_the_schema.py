"""Create the schema"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ENUMS = (
    "campaign_type",
    "campaign_state",
    "task_state",
    "job_kind",
    "job_state",
    "batch_state",
    "step_state",
    "outcome",
    "kill_reason",
    "event_level",
)

COUNT_TASKS = """
CREATE FUNCTION count_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
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
COUNT_TRIGGERS = tuple(
    f"CREATE TRIGGER count_{verb} AFTER {verb} ON tasks REFERENCING {seen} "
    "FOR EACH STATEMENT EXECUTE FUNCTION count_tasks()"
    for verb, seen in (
        ("insert", "NEW TABLE AS new_tasks"),
        ("update", "NEW TABLE AS new_tasks OLD TABLE AS old_tasks"),
        ("delete", "OLD TABLE AS old_tasks"),
    )
)


def upgrade() -> None:
    op.create_table(
        "clusters",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("config", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("blocked_until", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("visited_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint("name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'", name=op.f("ck_clusters_name")),
        sa.CheckConstraint(
            "(failures > 0) = (blocked_until IS NOT NULL)", name=op.f("ck_clusters_blocked_after_failures")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clusters")),
        sa.UniqueConstraint("name", name=op.f("uq_clusters_name")),
    )
    op.create_table(
        "grid",
        sa.Column("one", sa.Boolean(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.CheckConstraint("key ~ '^[a-z0-9]{4,8}$'", name=op.f("ck_grid_key")),
        sa.CheckConstraint("one", name=op.f("ck_grid_one_row")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_grid")),
    )
    op.create_table(
        "modules",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("passes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("started_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("seconds", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("counts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_modules")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
    )
    op.create_table(
        "task_counts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column(
            "state", sa.Enum("waiting", "assigned", "done", "failed", "cancelled", name="task_state"), nullable=False
        ),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_counts")),
    )
    op.create_index(op.f("ix_task_counts_campaign_id"), "task_counts", ["campaign_id"], unique=False)
    op.create_table(
        "campaigns",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=True),
        sa.Column("type", sa.Enum("default", "test", name="campaign_type"), nullable=False),
        sa.Column(
            "state", sa.Enum("in_treatment", "paused", "terminated", "cancelled", name="campaign_state"), nullable=False
        ),
        sa.Column("scheduler", sa.Text(), nullable=False),
        sa.Column("submitted_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("ended_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("purged_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("archived_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(state IN ('terminated', 'cancelled')) = (ended_at IS NOT NULL)", name=op.f("ck_campaigns_ended")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_campaigns_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
    )
    op.create_index(op.f("ix_campaigns_grid_user_id"), "campaigns", ["grid_user", "id"], unique=False)
    op.create_index(
        "ix_campaigns_open", "campaigns", ["id"], unique=False, postgresql_where="state IN ('in_treatment', 'paused')"
    )
    op.create_table(
        "cluster_states",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("free", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.Column("used_by_us", sa.BigInteger(), nullable=False),
        sa.Column("unavailable", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_states_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_cluster_states")),
    )
    op.create_table(
        "cluster_usage",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("free", sa.BigInteger(), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.Column("used_by_us", sa.BigInteger(), nullable=False),
        sa.Column("unavailable", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_usage_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "at", name=op.f("pk_cluster_usage")),
    )
    op.create_table(
        "user_mappings",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("grid_user", sa.Text(), nullable=False),
        sa.Column("local_user", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_user_mappings_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "grid_user", name=op.f("pk_user_mappings")),
    )
    op.create_table(
        "batches",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("local_user", sa.Text(), nullable=False),
        sa.Column("state", sa.Enum("launching", "submitted", "void", name="batch_state"), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("settled_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint("(state = 'launching') = (settled_at IS NULL)", name=op.f("ck_batches_settled")),
        sa.CheckConstraint("size > 0", name=op.f("ck_batches_size")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_batches_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_batches_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
        sa.UniqueConstraint("tag", name=op.f("uq_batches_tag")),
    )
    op.create_index(op.f("ix_batches_campaign_id"), "batches", ["campaign_id"], unique=False)
    op.create_index(
        "ix_batches_launching", "batches", ["cluster_id"], unique=False, postgresql_where="state = 'launching'"
    )
    op.create_table(
        "buckets",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("requirements", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_buckets_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_buckets")),
        sa.UniqueConstraint("campaign_id", "requirements", name=op.f("uq_buckets_campaign_id_requirements")),
        sa.UniqueConstraint("id", "campaign_id", name=op.f("uq_buckets_id_campaign_id")),
    )
    op.create_table(
        "campaign_clusters",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("settings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("width", sa.BigInteger(), nullable=False),
        sa.Column("max_jobs", sa.BigInteger(), nullable=True),
        sa.Column(
            "prologue", sa.Enum("none", "waiting", "running", "done", "failed", name="step_state"), nullable=False
        ),
        sa.Column(
            "epilogue", sa.Enum("none", "waiting", "running", "done", "failed", name="step_state"), nullable=False
        ),
        sa.Column("done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("resubmitted", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("seconds", sa.DOUBLE_PRECISION(), server_default="0", nullable=False),
        sa.Column("squares", sa.DOUBLE_PRECISION(), server_default="0", nullable=False),
        sa.Column("errors", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("strikes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("blocked_until", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint("max_jobs > 0", name=op.f("ck_campaign_clusters_max_jobs")),
        sa.CheckConstraint("width > 0", name=op.f("ck_campaign_clusters_width")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_campaign_clusters_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_campaign_clusters_cluster_id")),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", name=op.f("pk_campaign_clusters")),
    )
    op.create_index(op.f("ix_campaign_clusters_cluster_id"), "campaign_clusters", ["cluster_id"], unique=False)
    op.create_table(
        "completions",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("minute", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("tasks", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_completions_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_completions_cluster_id")),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", "minute", name=op.f("pk_completions")),
    )
    op.create_table(
        "forecast_history",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("ratio", sa.DOUBLE_PRECISION(), nullable=False),
        sa.Column("throughput", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("mean", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("deviation", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("remaining", sa.BigInteger(), nullable=False),
        sa.Column("eta", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_forecast_history_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_forecast_history_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forecast_history")),
    )
    op.create_index(op.f("ix_forecast_history_campaign_id_at"), "forecast_history", ["campaign_id", "at"], unique=False)
    op.create_table(
        "forecasts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("ratio", sa.DOUBLE_PRECISION(), nullable=False),
        sa.Column("throughput", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("mean", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("deviation", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("remaining", sa.BigInteger(), nullable=False),
        sa.Column("eta", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint("ratio > 0", name=op.f("ck_forecasts_ratio")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_forecasts_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_forecasts_cluster_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_forecasts")),
    )
    op.create_index(
        "uq_forecasts_campaign", "forecasts", ["campaign_id"], unique=True, postgresql_where="cluster_id IS NULL"
    )
    op.create_index("uq_forecasts_cluster", "forecasts", ["campaign_id", "cluster_id"], unique=True)
    op.create_table(
        "task_history",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("parameter", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "state", sa.Enum("waiting", "assigned", "done", "failed", "cancelled", name="task_state"), nullable=False
        ),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("started_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("seconds", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("node", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_task_history_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_task_history_cluster_id")),
        sa.PrimaryKeyConstraint("campaign_id", "number", name=op.f("pk_task_history")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("bucket_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.Enum("tasks", "prologue", "epilogue", name="job_kind"), nullable=False),
        sa.Column(
            "state",
            sa.Enum("to_launch", "launching", "submitted", "running", "ended", name="job_state"),
            nullable=False,
        ),
        sa.Column("width", sa.BigInteger(), nullable=False),
        sa.Column("walltime", sa.BigInteger(), nullable=False),
        sa.Column("batch_id", sa.BigInteger(), nullable=True),
        sa.Column("array_index", sa.BigInteger(), nullable=True),
        sa.Column("remote_id", sa.Text(), nullable=True),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("submitted_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("started_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("missing_since", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("ended_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column(
            "outcome",
            sa.Enum(
                "success",
                "resubmit",
                "resubmit_end",
                "failure",
                "walltime",
                "out_of_memory",
                "preempted",
                "node_failure",
                "lost",
                "killed",
                "withdrawn",
                "refused",
                name="outcome",
            ),
            nullable=True,
        ),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("(kind = 'tasks') = (bucket_id IS NOT NULL)", name=op.f("ck_jobs_tasks_have_bucket")),
        sa.CheckConstraint("(state = 'ended') = (ended_at IS NOT NULL)", name=op.f("ck_jobs_ended_at")),
        sa.CheckConstraint("(state = 'ended') = (outcome IS NOT NULL)", name=op.f("ck_jobs_ended_has_outcome")),
        sa.CheckConstraint("state <> 'to_launch' OR batch_id IS NULL", name=op.f("ck_jobs_to_launch_has_no_batch")),
        sa.CheckConstraint(
            "state IN ('to_launch', 'ended') OR batch_id IS NOT NULL", name=op.f("ck_jobs_submitted_has_batch")
        ),
        sa.CheckConstraint("(batch_id IS NULL) = (array_index IS NULL)", name=op.f("ck_jobs_batch_and_index")),
        sa.CheckConstraint("width > 0 AND walltime > 0", name=op.f("ck_jobs_size")),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name=op.f("fk_jobs_batch_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["bucket_id"], ["buckets.id"], name=op.f("fk_jobs_bucket_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_jobs_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("batch_id", "array_index", name=op.f("uq_jobs_batch_id_array_index")),
    )
    op.create_index("ix_jobs_campaign", "jobs", ["campaign_id", "cluster_id", "id"], unique=False)
    op.create_index(
        "ix_jobs_campaign_live",
        "jobs",
        ["campaign_id", "cluster_id", "state"],
        unique=False,
        postgresql_where="state <> 'ended'",
    )
    op.create_index(
        "ix_jobs_live", "jobs", ["cluster_id", "state", "id"], unique=False, postgresql_where="state <> 'ended'"
    )
    op.create_table(
        "offers",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("cores", sa.BigInteger(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("cores > 0 AND jobs > 0", name=op.f("ck_offers_not_empty")),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_offers_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", name=op.f("pk_offers")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("bucket_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("parameter", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "state",
            sa.Enum("waiting", "assigned", "done", "failed", "cancelled", name="task_state"),
            server_default="waiting",
            nullable=False,
        ),
        sa.Column("priority", sa.BigInteger(), server_default="10", nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("deaths", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("resubmissions", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["bucket_id", "campaign_id"],
            ["buckets.id", "buckets.campaign_id"],
            name=op.f("fk_tasks_bucket_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("campaign_id", "number", name=op.f("uq_tasks_campaign_id_number")),
    )
    op.create_index("ix_tasks_failed", "tasks", ["campaign_id"], unique=False, postgresql_where="state = 'failed'")
    op.create_index(
        "ix_tasks_waiting",
        "tasks",
        ["bucket_id", sa.text("priority DESC"), "id"],
        unique=False,
        postgresql_where="state = 'waiting'",
    )
    op.create_table(
        "attempts",
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("is_replica", sa.Boolean(), server_default="false", nullable=False),
        sa.Column(
            "outcome",
            sa.Enum(
                "success",
                "resubmit",
                "resubmit_end",
                "failure",
                "walltime",
                "out_of_memory",
                "preempted",
                "node_failure",
                "lost",
                "killed",
                "withdrawn",
                "refused",
                name="outcome",
            ),
            nullable=True,
        ),
        sa.Column("exit_code", sa.BigInteger(), nullable=True),
        sa.Column("started_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("seconds", sa.DOUBLE_PRECISION(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_attempts_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_attempts_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task_id", "number", name=op.f("pk_attempts")),
        sa.UniqueConstraint("job_id", "position", name=op.f("uq_attempts_job_id_position")),
    )
    op.create_index(
        "uq_attempts_live", "attempts", ["task_id"], unique=True, postgresql_where="outcome IS NULL AND NOT is_replica"
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("level", sa.Enum("info", "warning", "error", name="event_level"), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=True),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("job_id", sa.BigInteger(), nullable=True),
        sa.Column("task_id", sa.BigInteger(), nullable=True),
        sa.Column("count", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("opened_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("last_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("closed_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("closed_by", sa.Text(), nullable=True),
        sa.CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name=op.f("ck_events_closed_by")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_events_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_events_cluster_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_events_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_events_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index("ix_events_campaign", "events", ["campaign_id", "id"], unique=False)
    op.create_index("ix_events_job", "events", ["job_id"], unique=False)
    op.create_index("ix_events_task", "events", ["task_id"], unique=False)
    op.create_index("uq_events_open", "events", ["code", "subject"], unique=True, postgresql_where="closed_at IS NULL")
    op.create_table(
        "kills",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column(
            "reason", sa.Enum("user", "flood", "waiting_too_long", "walltime", name="kill_reason"), nullable=False
        ),
        sa.Column("asked_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("sent_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("is_open", sa.Boolean(), server_default="true", nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_kills_job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_kills")),
    )
    op.create_index("ix_kills_open", "kills", ["job_id"], unique=False, postgresql_where="is_open")

    op.execute(COUNT_TASKS)
    for trigger in COUNT_TRIGGERS:
        op.execute(trigger)
    # the key names this grid on clusters that several grids may share
    op.execute("INSERT INTO grid (one, key) VALUES (true, substr(md5(gen_random_uuid()::text), 1, 6))")


def downgrade() -> None:
    op.drop_index("ix_kills_open", table_name="kills", postgresql_where="is_open")
    op.drop_table("kills")
    op.drop_index("uq_events_open", table_name="events", postgresql_where="closed_at IS NULL")
    op.drop_index("ix_events_task", table_name="events")
    op.drop_index("ix_events_job", table_name="events")
    op.drop_index("ix_events_campaign", table_name="events")
    op.drop_table("events")
    op.drop_index("uq_attempts_live", table_name="attempts", postgresql_where="outcome IS NULL AND NOT is_replica")
    op.drop_table("attempts")
    op.drop_index("ix_tasks_waiting", table_name="tasks", postgresql_where="state = 'waiting'")
    op.drop_index("ix_tasks_failed", table_name="tasks", postgresql_where="state = 'failed'")
    op.drop_table("tasks")
    op.drop_table("offers")
    op.drop_index("ix_jobs_live", table_name="jobs", postgresql_where="state <> 'ended'")
    op.drop_index("ix_jobs_campaign_live", table_name="jobs", postgresql_where="state <> 'ended'")
    op.drop_index("ix_jobs_campaign", table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("task_history")
    op.drop_index("uq_forecasts_cluster", table_name="forecasts")
    op.drop_index("uq_forecasts_campaign", table_name="forecasts", postgresql_where="cluster_id IS NULL")
    op.drop_table("forecasts")
    op.drop_index(op.f("ix_forecast_history_campaign_id_at"), table_name="forecast_history")
    op.drop_table("forecast_history")
    op.drop_table("completions")
    op.drop_index(op.f("ix_campaign_clusters_cluster_id"), table_name="campaign_clusters")
    op.drop_table("campaign_clusters")
    op.drop_table("buckets")
    op.drop_index("ix_batches_launching", table_name="batches", postgresql_where="state = 'launching'")
    op.drop_index(op.f("ix_batches_campaign_id"), table_name="batches")
    op.drop_table("batches")
    op.drop_table("user_mappings")
    op.drop_table("cluster_usage")
    op.drop_table("cluster_states")
    op.drop_index("ix_campaigns_open", table_name="campaigns", postgresql_where="state IN ('in_treatment', 'paused')")
    op.drop_index(op.f("ix_campaigns_grid_user_id"), table_name="campaigns")
    op.drop_table("campaigns")
    op.drop_index(op.f("ix_task_counts_campaign_id"), table_name="task_counts")
    op.drop_table("task_counts")
    op.drop_table("projects")
    op.drop_table("modules")
    op.drop_table("grid")
    op.drop_table("clusters")
    op.execute("DROP FUNCTION count_tasks()")
    for name in ENUMS:
        op.execute(f"DROP TYPE {name}")
