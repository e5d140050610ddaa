"""Discovered nodes: what clusters say that they have.
Given by: updator; taken by: updator.
"""

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from cigri.database import interval
from cigri.database.typed_rows import read_all
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.resource_documents import mark_changed
from cigri.resources.nodes import AlikeNodes
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster
from cigri.tables.resources import Discovery
from cigri.tables.resources import NodeClass as Row

UNREADABLE = "NODES_UNREADABLE"


def list_undiscovered(conn: Connection, every: float) -> set[int]:
    """Clusters whose nodes were not looked at in the last `every` seconds."""
    oldest = func.now() - interval(every)
    visits = select(Cluster.c.id).outerjoin(Discovery, Discovery.c.cluster_id == Cluster.c.id)
    return set(conn.scalars(visits.where(or_(Discovery.c.at.is_(None), Discovery.c.at <= oldest))))


def put_nodes(conn: Connection, cluster: ClusterRow, classes: Sequence[AlikeNodes]) -> bool:
    """What nodes the cluster has; True when that is news to those who decide what may run there."""
    row = Row
    stored = select(row.c.properties, row.c.nodes, row.c.queue).where(row.c.cluster_id == cluster.id)
    stored_classes = read_all(conn, AlikeNodes, stored)
    _note(conn, cluster, "")
    close_events(conn, [UNREADABLE], [f"cluster {cluster.name}"], "cigri")
    if sorted(map(_key, stored_classes)) == sorted(map(_key, classes)):
        return False
    conn.execute(delete(row).where(row.c.cluster_id == cluster.id))
    if classes:
        common = {"cluster_id": cluster.id, "at": func.now()}
        conn.execute(insert(row).values([node_class._asdict() | common for node_class in classes]))
    is_news = _kinds(stored_classes) != _kinds(classes)
    if is_news:
        mark_changed(conn)
    return is_news


def put_no_nodes(conn: Connection, cluster: ClusterRow, problem: str) -> None:
    """The cluster's answer makes no sense: what was known of its nodes stays, and the operator is told of `problem`."""
    _note(conn, cluster, problem)
    message = f"what nodes it has cannot be read: {problem}"
    event = NewEvent(UNREADABLE, EventLevel.WARNING, f"cluster {cluster.name}", message, cluster_id=cluster.id)
    put_events(conn, [event])


def _note(conn: Connection, cluster: ClusterRow, problem: str) -> None:
    values = {"at": func.now(), "problem": problem}
    new = insert(Discovery).values(cluster_id=cluster.id, **values)
    conn.execute(new.on_conflict_do_update(index_elements=[Discovery.c.cluster_id], set_=values))


def _key(node_class: AlikeNodes) -> str:
    return json.dumps(node_class, sort_keys=True)


def _kinds(classes: Iterable[AlikeNodes]) -> set[str]:
    """Whatever their number."""
    return {_key(node_class._replace(nodes=1)) for node_class in classes}
