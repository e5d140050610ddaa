"""Let campaigns wait for others"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0052"
down_revision = "0050"
branch_labels = None
depends_on = None

OLD = ("waiting", "assigned", "done", "failed", "cancelled")
HOLDERS = ("tasks", "task_counts", "task_history")
INDEXES = ("waiting", "expected", "continuing", "elsewhere", "failed")
TIME = postgresql.TIMESTAMP(timezone=True)


def upgrade() -> None:
    op.execute("ALTER TYPE task_state ADD VALUE 'blocked' BEFORE 'waiting'")
    condition = postgresql.ENUM("success", "end", "failure", name="after_when")
    op.create_table(
        "dependencies",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("required_id", sa.BigInteger(), nullable=False),
        sa.Column("is_same", sa.Boolean(), nullable=False),
        sa.Column("condition", condition, nullable=False),
        sa.Column("tolerated", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("tolerance", sa.Double(), nullable=False, server_default="0"),
        sa.Column("met_at", TIME, nullable=True),
        sa.Column("waived_by", sa.Text(), nullable=True),
        sa.Column("broken_at", TIME, nullable=True),
        sa.Column("seen", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dependencies")),
        sa.UniqueConstraint("campaign_id", "required_id", name=op.f("uq_dependencies_campaign_id_required_id")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaigns.id"], name=op.f("fk_dependencies_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["required_id"], ["campaigns.id"], name=op.f("fk_dependencies_required_id")),
        sa.CheckConstraint("required_id < campaign_id", name=op.f("ck_dependencies_earlier")),
        sa.CheckConstraint(
            "tolerated >= 0 AND tolerance >= 0 AND tolerance <= 1", name=op.f("ck_dependencies_tolerance")
        ),
        sa.CheckConstraint("broken_at IS NULL OR met_at IS NULL", name=op.f("ck_dependencies_verdict")),
        sa.CheckConstraint("waived_by IS NULL OR met_at IS NOT NULL", name=op.f("ck_dependencies_waived")),
    )
    op.create_index("ix_dependencies_shut", "dependencies", ["required_id"], postgresql_where="met_at IS NULL")
    op.create_index("ix_dependencies_required_id", "dependencies", ["required_id"])
    op.create_index("ix_tasks_blocked", "tasks", ["campaign_id", "number"], postgresql_where="state < 'waiting'")


def downgrade() -> None:
    """Campaigns that wait for others are paused, for nobody would hold their tasks back any more."""
    op.execute(
        "UPDATE campaigns SET state = 'paused' WHERE state = 'in_treatment' AND id IN "
        "(SELECT campaign_id FROM dependencies WHERE met_at IS NULL)"
    )
    op.execute("UPDATE tasks SET state = 'waiting' WHERE state = 'blocked'")
    op.drop_index("ix_tasks_blocked", table_name="tasks")
    op.drop_table("dependencies")
    op.execute("DROP TYPE after_when")
    op.execute("DELETE FROM events WHERE code IN ('AFTER_FAILED', 'AFTER_MET')")
    _forget_blocked()


def _forget_blocked() -> None:
    """No word can be taken from an enum: a new one, and what names the old one is made anew around it."""
    for index in INDEXES:
        op.execute(f"DROP INDEX ix_tasks_{index}")
    op.execute("ALTER TABLE tasks ALTER state DROP DEFAULT")
    op.execute("DELETE FROM task_counts WHERE state = 'blocked'")
    op.execute("ALTER TYPE task_state RENAME TO newer")
    op.execute(f"CREATE TYPE task_state AS ENUM ({', '.join(map(repr, OLD))})")
    for table in HOLDERS:
        op.execute(f"ALTER TABLE {table} ALTER state TYPE task_state USING state::text::task_state")
    op.execute("DROP TYPE newer")
    op.execute("ALTER TABLE tasks ALTER state SET DEFAULT 'waiting'")
    _make_indexes()


def _make_indexes() -> None:
    rules = {
        "waiting": ("bucket_id, priority DESC, expected DESC, id", "waiting' AND checkpoint_cluster_id IS NULL"),
        "continuing": ("campaign_id, checkpoint_cluster_id, id", "waiting' AND checkpoint_cluster_id IS NOT NULL"),
        "elsewhere": ("campaign_id, failed_cluster_id", "waiting' AND failed_cluster_id IS NOT NULL"),
        "failed": ("campaign_id", "failed'"),
    }
    for index, (columns, rule) in rules.items():
        op.execute(f"CREATE INDEX ix_tasks_{index} ON tasks ({columns}) WHERE state = '{rule}")
    op.execute(
        "CREATE INDEX ix_tasks_expected ON tasks (campaign_id, expected) "
        "WHERE state IN ('waiting', 'assigned') AND expected IS NOT NULL"
    )
