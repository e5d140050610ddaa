"""Replicate the last tasks"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

OLD_OUTCOMES = (
    *("success", "doubtful", "resubmit", "resubmit_end", "checkpointed", "failure", "walltime", "out_of_memory"),
    *("preempted", "node_failure", "lost", "killed", "withdrawn", "refused"),
)
OLD_REASONS = ("user", "flood", "waiting_too_long", "walltime", "drain", "hours")


def upgrade() -> None:
    op.execute("ALTER TYPE outcome ADD VALUE 'superseded'")
    op.execute("ALTER TYPE kill_reason ADD VALUE 'superseded'")
    op.add_column("campaigns", sa.Column("replica_budget", sa.Double(), nullable=True))
    op.add_column("campaigns", sa.Column("max_replicas", sa.BigInteger(), nullable=True))
    op.create_check_constraint(
        op.f("ck_campaigns_replicas"), "campaigns", "(replica_budget IS NULL) = (max_replicas IS NULL)"
    )
    op.create_check_constraint(
        op.f("ck_campaigns_replica_budget"),
        "campaigns",
        "replica_budget > 0 AND replica_budget <= 1 AND max_replicas > 0",
    )
    op.create_index("ix_attempts_replicas", "attempts", ["task_id"], postgresql_where="is_replica")


def downgrade() -> None:
    """No value can be taken from an enum: new ones, in which an attempt that lost was withdrawn, as its kill does."""
    op.drop_index("ix_attempts_replicas", table_name="attempts")
    op.drop_column("campaigns", "max_replicas")
    op.drop_column("campaigns", "replica_budget")
    op.execute("DROP INDEX uq_attempts_live")
    op.execute("DROP INDEX ix_jobs_preempted")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_ended_has_outcome")
    _shorten("outcome", OLD_OUTCOMES, ("jobs", "attempts"), "outcome", "withdrawn")
    _shorten("kill_reason", OLD_REASONS, ("kills",), "reason", "flood")
    op.execute(
        "ALTER TABLE jobs ADD CONSTRAINT ck_jobs_ended_has_outcome CHECK ((state = 'ended') = (outcome IS NOT NULL))"
    )
    op.execute("CREATE UNIQUE INDEX uq_attempts_live ON attempts (task_id) WHERE outcome IS NULL AND NOT is_replica")
    op.execute("CREATE INDEX ix_jobs_preempted ON jobs (cluster_id, ended_at) WHERE outcome = 'preempted'")


def _shorten(type: str, words: tuple[str, ...], tables: tuple[str, ...], column: str, instead: str) -> None:
    op.execute(f"ALTER TYPE {type} RENAME TO old_{type}")
    op.execute(f"CREATE TYPE {type} AS ENUM ({', '.join(repr(word) for word in words)})")
    for table in tables:
        op.execute(
            f"ALTER TABLE {table} ALTER {column} TYPE {type} "
            f"USING replace({column}::text, 'superseded', '{instead}')::{type}"
        )
    op.execute(f"DROP TYPE old_{type}")
