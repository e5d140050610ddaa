"""Resources: sites, clusters and queues as operators describe them; each description that was applied is kept.
Given by: operator, updator, users; taken by: users.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.selectable import Select

from cigri.api_models.resources import ResourceDocumentView
from cigri.database import wake
from cigri.database.typed_rows import read_all, read_one
from cigri.errors import NotFound
from cigri.requirements import ValueKind
from cigri.resources.description import QueueDescription, ResourcesDescription
from cigri.resources.inheritance import DeclarationPlace, DeclaredValue
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Grid
from cigri.tables.resources import DeclaredProperty, NodeClass, PropertyKind, Queue, ResourceDocument

RESOURCES_LOCK = "cigri.resources"


def find_description(conn: Connection) -> ResourcesDescription:
    """The description that holds now; nobody else changes it before the transaction ends."""
    conn.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(RESOURCES_LOCK, 0))))
    kinds = {name: ValueKind(kind) for name, kind in conn.execute(select(PropertyKind.c.name, PropertyKind.c.kind))}
    sites = {name: site for name, site in conn.execute(select(Cluster.c.name, Cluster.c.site)) if site}
    queue_rows = conn.execute(
        select(Cluster.c.name, Queue.c.name, Queue.c.remote_name, Queue.c.requires)
        .join(Cluster, Cluster.c.id == Queue.c.cluster_id)
        .order_by(Cluster.c.name, Queue.c.name)
    )
    queues = {(cluster, name): QueueDescription(remote, requires) for cluster, name, remote, requires in queue_rows}
    row = DeclaredProperty
    properties: dict[DeclarationPlace, dict[str, DeclaredValue]] = defaultdict(dict)
    for level, place, project, name, value, extends in conn.execute(
        select(row.c.level, row.c.place, row.c.project, row.c.name, row.c.value, row.c.extends)
    ):
        properties[DeclarationPlace(level, place, project)][name] = DeclaredValue(value, extends)
    return ResourcesDescription(kinds, sites, queues, properties)


def list_drivers(conn: Connection) -> dict[str, str]:
    """By cluster name the driver that its configuration names, whether or not a fallback stands in for it."""
    return {name: driver for name, driver in conn.execute(select(Cluster.c.name, Cluster.c.config["driver"].astext))}


def list_found_queues(conn: Connection) -> dict[str, set[str]]:
    """By cluster name the queues that its batch system has told of; a cluster whose batch system tells of none is
    missing."""
    by_cluster: dict[str, set[str]] = defaultdict(set)
    queues = select(Cluster.c.name, NodeClass.c.queue).join(NodeClass, NodeClass.c.cluster_id == Cluster.c.id)
    for cluster, queue in conn.execute(queues.where(NodeClass.c.queue != "").distinct()):
        by_cluster[cluster].add(queue or "")
    return by_cluster


def put_description(conn: Connection, description: ResourcesDescription, text: str, by: str) -> int:
    """From now on this one holds; give its version. Its clusters must be declared."""
    _put_clusters(conn, description)
    conn.execute(delete(PropertyKind))
    conn.execute(delete(DeclaredProperty))
    if description.kinds:
        conn.execute(insert(PropertyKind).values([{"name": name, "kind": k} for name, k in description.kinds.items()]))
    if rows := list(_rows(description)):
        conn.execute(insert(DeclaredProperty), rows)
    new = insert(ResourceDocument).values(at=func.now(), by=by, text=text).returning(ResourceDocument.c.id)
    version = conn.execute(new).scalar_one()
    mark_changed(conn)
    wake(conn)
    return version


def list_documents(conn: Connection, before: int | None = None, limit: int | None = None) -> list[ResourceDocumentView]:
    """Each document that was ever applied, the newest first; those before another, and so many at most."""
    documents = _documents() if before is None else _documents().where(ResourceDocument.c.id < before)
    return read_all(conn, ResourceDocumentView, documents.limit(limit))


def find_document(conn: Connection, version: int | None = None) -> ResourceDocumentView:
    """The one of that version, else the newest; raise NotFound when there is none."""
    wanted = _documents().limit(1)
    if version is not None:
        wanted = wanted.where(ResourceDocument.c.id == version)
    document = read_one(conn, ResourceDocumentView, wanted)
    if document is None:
        which = "no description of resources" if version is None else f"no version {version}"
        raise NotFound(f"{which} was ever applied; `cigri resources history` lists them")
    return document


def _documents() -> Select[int, datetime, str, str]:
    row = ResourceDocument.c
    return select(row.id.label("version"), row.at, row.by, row.text).order_by(row.id.desc())


def _put_clusters(conn: Connection, description: ResourcesDescription) -> None:
    """Sites and queues; what is not described has neither a site nor a queue but the default one."""
    ids: dict[str, int] = {}
    for cluster_id, name, site in conn.execute(
        select(Cluster.c.id, Cluster.c.name, Cluster.c.site).order_by(Cluster.c.id)
    ):
        ids[name] = cluster_id
        if site != (wanted := description.sites.get(name, "")):
            conn.execute(update(Cluster).where(Cluster.c.id == cluster_id).values(site=wanted))
    kept = {(ids[cluster], name) for cluster, name in description.queues}
    for queue_id, cluster_id, name in conn.execute(select(Queue.c.id, Queue.c.cluster_id, Queue.c.name)).all():
        if name and (cluster_id, name) not in kept:
            conn.execute(delete(Queue).where(Queue.c.id == queue_id))
        elif not name and (cluster_id, "") not in kept:
            conn.execute(update(Queue).where(Queue.c.id == queue_id).values(requires=None))
    for (cluster, name), queue in description.queues.items():
        new = insert(Queue).values(cluster_id=ids[cluster], name=name, **queue._asdict())
        conn.execute(new.on_conflict_do_update(index_elements=[Queue.c.cluster_id, Queue.c.name], set_=queue._asdict()))


def _rows(description: ResourcesDescription) -> Iterator[dict[str, Any]]:
    for where, values in description.properties.items():
        for name, declared in values.items():
            yield {**where._asdict(), "name": name, **declared._asdict()}


def mark_changed(conn: Connection) -> None:
    """Call it last: until the end of the transaction, all others who change something wait."""
    conn.execute(update(Grid).values(resources_version=Grid.c.resources_version + 1))
