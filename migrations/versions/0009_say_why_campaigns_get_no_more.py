"""Say why campaigns get no more"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WORDS = (
    *("waiting_limit", "max_jobs", "trial", "scouts", "limit", "user", "project"),
    *("full", "order", "reserved", "forecast"),
)
REASON = postgresql.ENUM(*WORDS, name="cut_reason")


def upgrade() -> None:
    op.create_table(
        "cuts",
        sa.Column("campaign_id", sa.BigInteger(), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("reason", REASON, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.Column("most", sa.BigInteger(), nullable=False),
        sa.Column("since", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id", "cluster_id"],
            ["campaign_clusters.campaign_id", "campaign_clusters.cluster_id"],
            name=op.f("fk_cuts_campaign_id_cluster_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", "cluster_id", name=op.f("pk_cuts")),
    )


def downgrade() -> None:
    op.drop_table("cuts")
    REASON.drop(op.get_bind())
