"""Forecast what to keep waiting and to send, how tasks' durations are spread, and in which interval the end lies"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INDEXES = (
    ("ix_batches_submitted", "batches", ["settled_at"], "state = 'submitted'"),
    ("ix_jobs_started", "jobs", ["cluster_id", "started_at"], "started_at IS NOT NULL"),
    ("ix_jobs_preempted", "jobs", ["cluster_id", "ended_at"], "outcome = 'preempted'"),
)
RULES = (("jobs", "keep >= 0 AND send >= 0"), ("interval", "eta_low <= eta AND eta <= eta_high"))
MEASURES = ("cycle", "start_rate", "queue_delay", "arrivals", "releases", "hazard")


def upgrade() -> None:
    counts = postgresql.ARRAY(sa.BigInteger())
    durations: sa.Column[object] = sa.Column("durations", counts, server_default="{}", nullable=False)
    op.add_column("campaign_clusters", durations)
    for table in ("forecasts", "forecast_history"):
        for column in _forecast_columns():
            op.add_column(table, column)
    for name, rule in RULES:
        op.create_check_constraint(op.f(f"ck_forecasts_{name}"), "forecasts", rule)
    for name, table, columns, condition in INDEXES:
        op.create_index(name, table, columns, postgresql_where=condition)
    op.create_table(
        "cluster_forecasts",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        *(sa.Column(name, sa.DOUBLE_PRECISION(), nullable=True) for name in MEASURES),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_forecasts_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_cluster_forecasts")),
    )


def _forecast_columns() -> list[sa.Column[object]]:
    """New ones for each table; those that are there already have no memory, and nothing is known of the rest."""
    memory = postgresql.JSONB(astext_type=sa.Text())
    return [
        sa.Column("median", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("p95", sa.DOUBLE_PRECISION(), nullable=True),
        sa.Column("keep", sa.BigInteger(), nullable=True),
        sa.Column("send", sa.BigInteger(), nullable=True),
        sa.Column("memory", memory, server_default="{}", nullable=False),
        sa.Column("submitted", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("free", sa.BigInteger(), nullable=True),
        sa.Column("eta_low", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("eta_high", postgresql.TIMESTAMP(timezone=True), nullable=True),
    ]


def downgrade() -> None:
    op.drop_table("cluster_forecasts")
    for name, table, _, _ in INDEXES:
        op.drop_index(name, table_name=table)
    for name, _ in RULES:
        op.drop_constraint(op.f(f"ck_forecasts_{name}"), "forecasts")
    for table in ("forecast_history", "forecasts"):
        for column in reversed(_forecast_columns()):
            op.drop_column(table, column.name)
    op.drop_column("campaign_clusters", "durations")
