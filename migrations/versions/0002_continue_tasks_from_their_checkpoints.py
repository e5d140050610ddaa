"""Continue tasks from their checkpoints"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

OLD_OUTCOMES = (
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
)


def upgrade() -> None:
    op.execute("ALTER TYPE outcome ADD VALUE 'checkpointed' AFTER 'resubmit_end'")
    op.add_column("tasks", sa.Column("checkpoints", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("tasks", sa.Column("checkpoint_cluster_id", sa.BigInteger(), nullable=True))
    op.add_column("tasks", sa.Column("stopped_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.create_foreign_key(
        op.f("fk_tasks_checkpoint_cluster_id"), "tasks", "clusters", ["checkpoint_cluster_id"], ["id"]
    )
    op.create_check_constraint(
        op.f("ck_tasks_stopped_at_checkpoint"), "tasks", "(checkpoint_cluster_id IS NULL) = (stopped_at IS NULL)"
    )
    op.drop_index("ix_tasks_waiting", table_name="tasks")
    op.create_index(
        "ix_tasks_waiting",
        "tasks",
        ["bucket_id", sa.text("priority DESC"), "id"],
        postgresql_where="state = 'waiting' AND checkpoint_cluster_id IS NULL",
    )
    op.create_index(
        "ix_tasks_continuing",
        "tasks",
        ["campaign_id", "checkpoint_cluster_id", "id"],
        postgresql_where="state = 'waiting' AND checkpoint_cluster_id IS NOT NULL",
    )
    op.create_table(
        "checkpoint_requests",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("heard_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("looks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("is_open", sa.Boolean(), server_default="true", nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_checkpoint_requests_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_checkpoint_requests")),
    )
    op.create_index("ix_checkpoint_requests_open", "checkpoint_requests", ["job_id"], postgresql_where="is_open")


def downgrade() -> None:
    op.drop_table("checkpoint_requests")
    op.drop_index("ix_tasks_continuing", table_name="tasks")
    op.drop_index("ix_tasks_waiting", table_name="tasks")
    for column in ("stopped_at", "checkpoint_cluster_id", "checkpoints"):
        op.drop_column("tasks", column)
    op.create_index(
        "ix_tasks_waiting", "tasks", ["bucket_id", sa.text("priority DESC"), "id"], postgresql_where="state = 'waiting'"
    )
    _take_checkpointed_away()


def _take_checkpointed_away() -> None:
    """No value can be taken from an enum: a new one, in which such an attempt asked to be resubmitted."""
    op.execute("ALTER TYPE outcome RENAME TO old_outcome")
    op.execute(f"CREATE TYPE outcome AS ENUM ({', '.join(repr(word) for word in OLD_OUTCOMES)})")
    op.execute("DROP INDEX uq_attempts_live")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_ended_has_outcome")
    for table in ("jobs", "attempts"):
        op.execute(
            f"ALTER TABLE {table} ALTER outcome TYPE outcome "
            "USING replace(outcome::text, 'checkpointed', 'resubmit')::outcome"
        )
    op.execute(
        "ALTER TABLE jobs ADD CONSTRAINT ck_jobs_ended_has_outcome CHECK ((state = 'ended') = (outcome IS NOT NULL))"
    )
    op.execute("CREATE UNIQUE INDEX uq_attempts_live ON attempts (task_id) WHERE outcome IS NULL AND NOT is_replica")
    op.execute("DROP TYPE old_outcome")
