"""Try tasks that have failed on another cluster"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tasks", sa.Column("failed_cluster_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key(op.f("fk_tasks_failed_cluster_id"), "tasks", "clusters", ["failed_cluster_id"], ["id"])
    op.create_index(
        "ix_tasks_elsewhere",
        "tasks",
        ["campaign_id", "failed_cluster_id"],
        postgresql_where=sa.text("state = 'waiting' AND failed_cluster_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_tasks_elsewhere", table_name="tasks")
    op.drop_constraint(op.f("fk_tasks_failed_cluster_id"), "tasks", type_="foreignkey")
    op.drop_column("tasks", "failed_cluster_id")
