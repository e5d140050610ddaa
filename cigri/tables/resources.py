"""Resources: the queues of clusters, what operators declare of every level, and what was found on the nodes."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Named, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB

from cigri.states import PropertyLevel
from cigri.tables.columns import NumberedColumns, TableColumns, one_of, table


class QueueColumns(NumberedColumns):
    """A queue of a cluster; the one without a name is where its batch system puts jobs that name none.

    `remote_name` is what the batch system calls it; `requires`: what it demands of jobs, as a canonical requirement.
    """

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    name: Named[str]
    remote_name: Named[str]
    requires: Named[dict[str, Any] | None] = Column(JSONB(none_as_null=True))


Queue = table(
    "queues",
    QueueColumns,
    UniqueConstraint("cluster_id", "name"),
    CheckConstraint("(name = '') = (remote_name = '')", name="default"),
)


class ResourceDocumentColumns(NumberedColumns):
    """What operators have declared, as they wrote it; the newest holds."""

    at: Named[datetime]
    by: Named[str]
    text: Named[str]


ResourceDocument = table("resource_documents", ResourceDocumentColumns)


class PropertyKindColumns(TableColumns):
    """What the values of a property are: a Kind of cigri/requirements."""

    name: Named[str] = Column(primary_key=True)
    kind: Named[str]


PropertyKind = table("property_kinds", PropertyKindColumns)


class DeclaredPropertyColumns(TableColumns):
    """A value of the newest document; `place` is a driver, site, cluster or queue@cluster, empty for the grid.

    `project`: for its jobs only; empty: for all. `extends`: it is added to the list of the levels above.
    """

    level: Named[PropertyLevel] = Column(one_of(PropertyLevel), primary_key=True)
    place: Named[str] = Column(primary_key=True)
    project: Named[str] = Column(primary_key=True)
    name: Named[str] = Column(primary_key=True)
    value: Named[Any] = Column(JSONB, nullable=False)
    extends: Named[bool]


DeclaredProperty = table(
    "declared_properties",
    DeclaredPropertyColumns,
    CheckConstraint("(level = 'grid') = (place = '')", name="place"),
)


class NodeClassColumns(NumberedColumns):
    """Nodes of a cluster that are alike; `queue` is a remote name, empty: the default, null: they serve every queue."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"))
    queue: Named[str | None]
    at: Named[datetime]
    properties: Named[dict[str, Any]] = Column(JSONB)
    nodes: Named[int]


NodeClass = table(
    "node_classes",
    NodeClassColumns,
    CheckConstraint("nodes > 0", name="nodes"),
    Index(None, "cluster_id"),
)


class DiscoveryColumns(TableColumns):
    """When a cluster's nodes were last looked at, and what was wrong with the answer; empty: nothing."""

    cluster_id: Named[int] = Column(ForeignKey("clusters.id", ondelete="CASCADE"), primary_key=True)
    at: Named[datetime]
    problem: Named[str]


Discovery = table("discoveries", DiscoveryColumns)
