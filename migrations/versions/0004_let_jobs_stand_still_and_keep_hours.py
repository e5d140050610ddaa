"""Let jobs stand still, and let them follow the hours of operators"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

OLD_REASONS = ("user", "flood", "waiting_too_long", "walltime", "drain")
JOB_STATE = postgresql.ENUM("to_launch", "launching", "submitted", "running", "ended", name="job_state")
JOB_STATE.create_type = False


def upgrade() -> None:
    op.add_column("jobs", sa.Column("halted_since", postgresql.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("jobs", sa.Column("halted_seconds", sa.DOUBLE_PRECISION(), server_default="0", nullable=False))
    op.execute("ALTER TYPE kill_reason ADD VALUE 'hours'")
    op.create_index(
        "ix_campaign_clusters_hours",
        "campaign_clusters",
        ["campaign_id"],
        postgresql_where="settings ->> 'type' IN ('nightly', 'semi-best-effort')",
    )
    op.create_table(
        "holds",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("job_id", sa.BigInteger(), nullable=True),
        sa.Column("waiting_only", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("asked_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.CheckConstraint("cluster_id IS NULL OR job_id IS NULL", name=op.f("ck_holds_one_thing")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_holds_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_holds_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_holds_job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holds")),
    )
    for name, columns, condition in (
        ("uq_holds_campaign", ["campaign_id"], "cluster_id IS NULL AND job_id IS NULL"),
        ("uq_holds_cluster", ["campaign_id", "cluster_id"], "cluster_id IS NOT NULL"),
        ("uq_holds_job", ["job_id"], "job_id IS NOT NULL"),
    ):
        op.create_index(name, "holds", columns, unique=True, postgresql_where=condition)
    op.create_table(
        "halts",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("is_wanted", sa.Boolean(), nullable=False),
        sa.Column("state", JOB_STATE, nullable=False),
        sa.Column("sent_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_halts_job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_halts")),
    )


def downgrade() -> None:
    op.drop_table("halts")
    op.drop_table("holds")
    op.drop_index("ix_campaign_clusters_hours", table_name="campaign_clusters")
    op.drop_column("jobs", "halted_seconds")
    op.drop_column("jobs", "halted_since")
    words = ", ".join(map(repr, OLD_REASONS))
    op.execute("ALTER TYPE kill_reason RENAME TO newer")
    op.execute(f"CREATE TYPE kill_reason AS ENUM ({words})")
    op.execute(
        "ALTER TABLE kills ALTER COLUMN reason TYPE kill_reason "
        "USING replace(reason::text, 'hours', 'waiting_too_long')::kill_reason"
    )
    op.execute("DROP TYPE newer")
