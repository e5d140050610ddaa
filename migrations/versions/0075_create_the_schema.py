"""Create the schema: all tables, as they stood when the migrations up to 0075 were made into this one.

The schema itself is in migrations/schema, a file for each room, which never changes again: what comes later is a
migration of its own.
"""

from pathlib import Path

from alembic import op

revision = "0075"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = Path(__file__).parents[1] / "schema"
# in this order: tables of a room name those of the rooms before
ROOMS = (
    "grid",
    "clusters",
    "resources",
    "campaigns",
    "tasks",
    "jobs",
    "job_requests",
    "sharing",
    "pools",
    "inputs",
    "outputs",
    "events",
    "people",
    "audit",
)


def upgrade() -> None:
    for room in ROOMS:
        statements = (SCHEMA / f"{room}.sql").read_text(encoding="utf-8")
        op.get_bind().exec_driver_sql(statements, execution_options={"no_parameters": True})


def downgrade() -> None:
    raise NotImplementedError("there is no schema before 0075: drop the database instead")
