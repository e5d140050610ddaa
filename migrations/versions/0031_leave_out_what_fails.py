"""Leave out what fails"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

THINGS = {"campaign": "campaigns.id", "cluster": "clusters.id"}
MOMENT = sa.TIMESTAMP(timezone=True)


def upgrade() -> None:
    """A module that fails now has done so since its last pass, as far as anybody knows."""
    op.create_table(
        "quarantines",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("module", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.BigInteger(), nullable=True),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_quarantines"),
        sa.CheckConstraint("num_nonnulls(campaign_id, cluster_id) = 1", name=op.f("ck_quarantines_one_thing")),
        sa.CheckConstraint("failures > 0", name=op.f("ck_quarantines_failures")),
        *(
            sa.ForeignKeyConstraint([f"{thing}_id"], [there], f"fk_quarantines_{thing}_id", ondelete="CASCADE")
            for thing, there in THINGS.items()
        ),
    )
    for thing in THINGS:
        where = sa.text(f"{thing}_id IS NOT NULL")
        index = f"uq_quarantines_{thing}", "quarantines", ["module", f"{thing}_id"]
        op.create_index(*index, unique=True, postgresql_where=where)
    op.add_column("modules", sa.Column("failing_since", MOMENT, nullable=True))
    op.add_column("modules", sa.Column("by_almighty", sa.Boolean(), server_default="false", nullable=False))
    op.execute("UPDATE modules SET failing_since = started_at WHERE error IS NOT NULL")
    rule = "(error IS NULL) = (failing_since IS NULL)"
    op.create_check_constraint(op.f("ck_modules_failing_since"), "modules", rule)


def downgrade() -> None:
    """What was left out is tried in every pass again."""
    op.drop_constraint(op.f("ck_modules_failing_since"), "modules", type_="check")
    op.drop_column("modules", "by_almighty")
    op.drop_column("modules", "failing_since")
    op.drop_table("quarantines")
