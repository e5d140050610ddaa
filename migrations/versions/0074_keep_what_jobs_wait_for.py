"""Keep what jobs wait for"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None

OLD_KILLS = (
    *("user", "flood", "waiting_too_long", "walltime", "drain", "hours"),
    *("superseded", "fairness", "listed_again", "not_started"),
)
CLOSE = (
    "UPDATE events SET closed_at = now(), closed_by = 'cigri' WHERE code = 'JOBS_CANNOT_START' AND closed_at IS NULL"
)


def upgrade() -> None:
    op.execute("ALTER TYPE kill_reason ADD VALUE 'cannot_start'")
    op.create_table(
        "waiting_reasons",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("local_user", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("meaning", sa.Text(), nullable=False),
        sa.Column("is_stuck", sa.Boolean(), nullable=False),
        sa.Column("jobs", sa.BigInteger(), nullable=False),
        sa.Column("starts_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("since", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("jobs > 0", name=op.f("ck_waiting_reasons_jobs")),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_waiting_reasons_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("cluster_id", "local_user", "campaign_id", "said", name=op.f("pk_waiting_reasons")),
    )
    op.create_index(op.f("ix_waiting_reasons_campaign_id"), "waiting_reasons", ["campaign_id"])


def downgrade() -> None:
    """What was to die for it has waited too long for the version before, which heals no events about it."""
    op.execute(CLOSE)
    op.drop_table("waiting_reasons")
    op.execute("UPDATE kills SET reason = 'waiting_too_long' WHERE reason = 'cannot_start'")
    op.execute("ALTER TYPE kill_reason RENAME TO newer")
    op.execute(f"CREATE TYPE kill_reason AS ENUM ({', '.join(map(repr, OLD_KILLS))})")
    op.execute("ALTER TABLE kills ALTER reason TYPE kill_reason USING reason::text::kill_reason")
    op.execute("DROP TYPE newer")
