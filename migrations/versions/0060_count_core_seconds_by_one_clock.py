"""Count core-seconds by one clock: jobs keep since when they were seen to run, and how long they ran"""

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

CHECK = "ran_seconds >= 0 AND (ran_seconds IS NULL OR state = 'ended')"


def upgrade() -> None:
    op.add_column("jobs", sa.Column("running_from", sa.DateTime(timezone=True), nullable=True))
    op.add_column("jobs", sa.Column("ran_seconds", sa.Double(), nullable=True))
    # accounting has of jobs of before what they were counted by: `cigri accounting rebuild` finds it so
    op.execute(
        "UPDATE jobs SET ran_seconds = greatest(extract(epoch FROM ended_at - started_at), 0)"
        " WHERE state = 'ended' AND started_at IS NOT NULL"
    )
    op.execute("UPDATE jobs SET running_from = started_at WHERE state = 'running'")
    op.create_check_constraint(op.f("ck_jobs_ran_seconds"), "jobs", CHECK)


def downgrade() -> None:
    op.drop_constraint(op.f("ck_jobs_ran_seconds"), "jobs")
    op.drop_column("jobs", "ran_seconds")
    op.drop_column("jobs", "running_from")
