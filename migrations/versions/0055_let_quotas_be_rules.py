"""Let quotas be rules of queue, project, type and user, of cores, jobs and core-hours"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0055"
down_revision = "0053"
branch_labels = None
depends_on = None

BEFORE = ("waiting_limit", "max_jobs", "trial", "scouts", "limit")
AFTER = ("full", "order", "reserved", "forecast", "stress", "max_queued", "share", "tests")
OLD, NEW = ("user", "project"), ("quota_cores", "quota_jobs", "quota_core_hours")
KIND = postgresql.ENUM("user", "project", name="subject_kind", create_type=False)
RULE = ("queue", "project", "type", "grid_user")
AS_RULES = """
UPDATE quotas SET queue = '*', type = 'all',
    project = CASE kind WHEN 'project' THEN translate(name, '*', '/') ELSE '*' END,
    grid_user = CASE kind WHEN 'user' THEN translate(name, '*', '/') ELSE '*' END
"""


def upgrade() -> None:
    _change_reasons((*BEFORE, *NEW, *AFTER), OLD)
    op.drop_index("uq_quotas_grid", "quotas")
    op.drop_index("uq_quotas_cluster", "quotas")
    for name in RULE:
        op.add_column("quotas", sa.Column(name, sa.Text(), nullable=True))
    op.execute(AS_RULES)
    for name in RULE:
        op.alter_column("quotas", name, nullable=False)
    op.drop_constraint(op.f("ck_quotas_cores"), "quotas")
    op.drop_column("quotas", "kind")
    op.drop_column("quotas", "name")
    op.alter_column("quotas", "cores", nullable=True)
    op.add_column("quotas", sa.Column("jobs", sa.BigInteger(), nullable=True))
    op.add_column("quotas", sa.Column("core_hours", sa.Double(), nullable=True))
    op.add_column("quotas", sa.Column("days", sa.BigInteger(), nullable=True))
    for name, condition in (
        ("amounts", "cores >= 0 AND jobs >= 0 AND core_hours >= 0"),
        ("something", "coalesce(cores, jobs) IS NOT NULL OR core_hours IS NOT NULL"),
        ("days", "(core_hours IS NULL) = (days IS NULL) AND days > 0"),
        ("accounted", "core_hours IS NULL OR (queue = '*' AND type = 'all')"),
    ):
        op.create_check_constraint(op.f(f"ck_quotas_{name}"), "quotas", condition)
    _index(RULE)


def downgrade() -> None:
    _change_reasons((*BEFORE, *OLD, *AFTER), NEW)
    op.drop_index("uq_quotas_grid", "quotas")
    op.drop_index("uq_quotas_cluster", "quotas")
    op.execute(
        "DELETE FROM quotas WHERE cores IS NULL OR queue <> '*' OR type <> 'all' OR (project = '*') = (grid_user = '*')"
    )
    for name in ("amounts", "something", "days", "accounted"):
        op.drop_constraint(op.f(f"ck_quotas_{name}"), "quotas")
    op.add_column("quotas", sa.Column("kind", KIND, nullable=True))
    op.add_column("quotas", sa.Column("name", sa.Text(), nullable=True))
    op.execute(
        "UPDATE quotas SET kind = CASE grid_user WHEN '*' THEN 'project' ELSE 'user' END::subject_kind,"
        " name = translate(CASE grid_user WHEN '*' THEN project ELSE grid_user END, '/', '*')"
    )
    for name in ("kind", "name", "cores"):
        op.alter_column("quotas", name, nullable=False)
    for name in (*RULE, "jobs", "core_hours", "days"):
        op.drop_column("quotas", name)
    op.create_check_constraint(op.f("ck_quotas_cores"), "quotas", "cores >= 0")
    _index(("kind", "name"))


def _index(columns: tuple[str, ...]) -> None:
    for name, more, condition in (
        ("uq_quotas_grid", (), "cluster_id IS NULL"),
        ("uq_quotas_cluster", ("cluster_id",), "cluster_id IS NOT NULL"),
    ):
        op.create_index(name, "quotas", [*columns, *more], unique=True, postgresql_where=condition)


def _change_reasons(words: tuple[str, ...], gone: tuple[str, ...]) -> None:
    op.execute(sa.text("DELETE FROM cuts WHERE reason::text = ANY(:gone)").bindparams(gone=list(gone)))
    op.execute("ALTER TYPE cut_reason RENAME TO older")
    op.execute(f"CREATE TYPE cut_reason AS ENUM ({', '.join(map(repr, words))})")
    op.execute("ALTER TABLE cuts ALTER reason TYPE cut_reason USING reason::text::cut_reason")
    op.execute("DROP TYPE older")
