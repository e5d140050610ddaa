"""Describe sites, clusters and queues"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

TIME = postgresql.TIMESTAMP(timezone=True)


def upgrade() -> None:
    op.add_column("grid", sa.Column("resources_version", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("clusters", sa.Column("site", sa.Text(), server_default="", nullable=False))
    op.create_check_constraint(
        op.f("ck_clusters_site"), "clusters", "site = '' OR site ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'"
    )
    _queues()
    op.create_table(
        "resource_documents",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource_documents")),
    )
    op.create_table(
        "property_kinds",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_property_kinds")),
    )
    level = postgresql.ENUM("grid", "driver", "site", "cluster", "queue", name="property_level")
    op.create_table(
        "declared_properties",
        sa.Column("level", level, nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", postgresql.JSONB(), nullable=False),
        sa.Column("extends", sa.Boolean(), nullable=False),
        sa.CheckConstraint("(level = 'grid') = (place = '')", name=op.f("ck_declared_properties_place")),
        sa.PrimaryKeyConstraint("level", "place", "project", "name", name=op.f("pk_declared_properties")),
    )
    _discovery()


def _queues() -> None:
    op.create_table(
        "queues",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("remote_name", sa.Text(), nullable=False),
        sa.Column("requires", postgresql.JSONB(), nullable=True),
        sa.CheckConstraint("(name = '') = (remote_name = '')", name=op.f("ck_queues_default")),
        sa.ForeignKeyConstraint(["cluster_id"], ["clusters.id"], name=op.f("fk_queues_cluster_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_queues")),
        sa.UniqueConstraint("cluster_id", "name", name=op.f("uq_queues_cluster_id_name")),
    )
    op.execute("INSERT INTO queues (cluster_id, name, remote_name) SELECT id, '', '' FROM clusters ORDER BY id")


def _discovery() -> None:
    op.create_table(
        "node_classes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.Column("properties", postgresql.JSONB(), nullable=False),
        sa.Column("nodes", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("nodes > 0", name=op.f("ck_node_classes_nodes")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_node_classes_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_node_classes")),
    )
    op.create_index(op.f("ix_node_classes_cluster_id"), "node_classes", ["cluster_id"])
    op.create_table(
        "discoveries",
        sa.Column("cluster_id", sa.BigInteger(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_discoveries_cluster_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("cluster_id", name=op.f("pk_discoveries")),
    )


def downgrade() -> None:
    for table in ("discoveries", "node_classes", "declared_properties"):
        op.drop_table(table)
    op.execute("DROP TYPE property_level")
    for table in ("property_kinds", "resource_documents", "queues"):
        op.drop_table(table)
    op.drop_constraint(op.f("ck_clusters_site"), "clusters")
    op.drop_column("clusters", "site")
    op.drop_column("grid", "resources_version")
