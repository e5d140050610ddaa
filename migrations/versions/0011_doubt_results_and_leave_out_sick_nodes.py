"""Doubt results that came too soon, and leave out sick nodes"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0009"
branch_labels = None
depends_on = None

OLD_OUTCOMES = (
    *("success", "resubmit", "resubmit_end", "checkpointed", "failure", "walltime", "out_of_memory"),
    *("preempted", "node_failure", "lost", "killed", "withdrawn", "refused"),
)
TIME = postgresql.TIMESTAMP(timezone=True)


def upgrade() -> None:
    op.execute("ALTER TYPE outcome ADD VALUE 'doubtful' AFTER 'success'")
    op.add_column("campaign_clusters", sa.Column("doubted", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("campaign_clusters", sa.Column("doubted_below", sa.DOUBLE_PRECISION(), nullable=True))
    op.add_column("campaign_clusters", sa.Column("sink_since", TIME, nullable=True))
    op.add_column("campaign_clusters", sa.Column("is_trusted", sa.Boolean(), server_default="false", nullable=False))
    for name, rule in (("doubted", "doubted >= 0"), ("sink", "sink_since IS NULL OR doubted_below IS NOT NULL")):
        op.create_check_constraint(op.f(f"ck_campaign_clusters_{name}"), "campaign_clusters", rule)
    op.create_table(
        "excluded_nodes",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("since", TIME, nullable=False),
        sa.Column("until", TIME, nullable=False),
        sa.Column("strikes", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.CheckConstraint("strikes > 0", name=op.f("ck_excluded_nodes_strikes")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_excluded_nodes_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", "node", name=op.f("pk_excluded_nodes")),
    )


def downgrade() -> None:
    op.drop_table("excluded_nodes")
    op.execute("UPDATE campaign_clusters SET done = done + doubted")
    for name in ("doubted", "doubted_below", "sink_since", "is_trusted"):
        op.drop_column("campaign_clusters", name)
    _believe_the_doubtful()


def _believe_the_doubtful() -> None:
    """No value can be taken from an enum: a new one, in which such an attempt is a success."""
    op.execute("ALTER TYPE outcome RENAME TO newer")
    op.execute(f"CREATE TYPE outcome AS ENUM ({', '.join(map(repr, OLD_OUTCOMES))})")
    for index in ("uq_attempts_live", "ix_jobs_preempted"):
        op.execute(f"DROP INDEX {index}")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_ended_has_outcome")
    for table in ("jobs", "attempts"):
        op.execute(
            f"ALTER TABLE {table} ALTER outcome TYPE outcome "
            "USING replace(outcome::text, 'doubtful', 'success')::outcome"
        )
    op.execute(
        "ALTER TABLE jobs ADD CONSTRAINT ck_jobs_ended_has_outcome CHECK ((state = 'ended') = (outcome IS NOT NULL))"
    )
    op.execute("CREATE UNIQUE INDEX uq_attempts_live ON attempts (task_id) WHERE outcome IS NULL AND NOT is_replica")
    op.execute("CREATE INDEX ix_jobs_preempted ON jobs (cluster_id, ended_at) WHERE outcome = 'preempted'")
    op.execute("DROP TYPE newer")
