"""Excluded nodes: sick ones get no job for a while.
Given by: updator, users; taken by: runner, updator, users.
"""

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import BigInteger, Connection, and_, delete, false, func, literal, select, true
from sqlalchemy.dialects.postgresql import insert

from cigri.api_models.clusters import ExcludedNodeView
from cigri.database import interval, pause_after
from cigri.database.typed_rows import read_all
from cigri.estimates.backoff import nodes_that_are_sick
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.formats.units import as_utc
from cigri.settings.sections import NodeSettings
from cigri.states import EventLevel
from cigri.tables.clusters import Cluster, NodeDrain
from cigri.tables.clusters import ExcludedNode as NodeRow

NODE_EXCLUDED = "NODE_EXCLUDED"
DRAINED = "its operator wants it empty by then"


def list_excluded(conn: Connection, cluster_id: int) -> list[str]:
    """Nodes that get no job now because they are sick."""
    nodes = select(NodeRow.c.node).where(NodeRow.c.cluster_id == cluster_id, NodeRow.c.until > func.now())
    return list(conn.scalars(nodes.order_by(NodeRow.c.node)))


def list_all_excluded(conn: Connection) -> dict[int, list[str]]:
    """By cluster id the names of nodes that get no job now, since they are sick or drained."""
    sick = select(NodeRow.c.cluster_id, NodeRow.c.node).where(NodeRow.c.until > func.now())
    excluded: dict[int, list[str]] = defaultdict(list)
    for cluster_id, node in conn.execute(sick.union(select(NodeDrain.c.cluster_id, NodeDrain.c.node)).order_by("node")):
        excluded[cluster_id].append(node)
    return dict(excluded)


def list_excluded_nodes(conn: Connection, cluster: str = "") -> list[ExcludedNodeView]:
    """Of one cluster (empty: of all), sorted by cluster and node: sick nodes, those on trial after that, and drained
    ones."""
    row = NodeRow
    name = Cluster.c.name.label("cluster")
    sick = (
        select(name, row.c.node, row.c.since, row.c.until, row.c.strikes, row.c.reason, row.c.asked_by)
        .add_columns((row.c.until > func.now()).label("is_out"), false().label("is_drained"))
        .join(Cluster, Cluster.c.id == row.c.cluster_id)
    )
    wish = NodeDrain.c
    drained = (
        select(name, wish.node, wish.asked_at.label("since"), wish.deadline.label("until"))
        .add_columns(literal(0, BigInteger).label("strikes"), literal(DRAINED).label("reason"), wish.asked_by)
        .add_columns(true().label("is_out"), true().label("is_drained"))
        .join(Cluster, Cluster.c.id == wish.cluster_id)
    )
    statements = [nodes.where(Cluster.c.name == cluster) if cluster else nodes for nodes in (sick, drained)]
    return sorted(node for nodes in statements for node in read_all(conn, ExcludedNodeView, nodes))


def put_exclusion(
    conn: Connection, cluster_id: int, cluster: str, node: str, reason: str, limits: NodeSettings
) -> bool:
    """Leave the node out for a while, twice as long as the last time; False when it is out already."""
    backoff = nodes_that_are_sick(limits)
    pause = pause_after(NodeRow.c.strikes + 1, backoff)
    new = insert(NodeRow).values(
        cluster_id=cluster_id,
        node=node,
        since=func.now(),
        until=func.now() + interval(backoff.seconds(1)),
        strikes=1,
        reason=reason,
        asked_by="cigri",
    )
    again = {"since": func.now(), "until": func.now() + pause, "strikes": NodeRow.c.strikes + 1}
    again |= {"reason": reason, "asked_by": "cigri"}
    until = conn.scalar(
        new.on_conflict_do_update(
            index_elements=[NodeRow.c.cluster_id, NodeRow.c.node], set_=again, where=NodeRow.c.until <= func.now()
        ).returning(NodeRow.c.until)
    )
    if until is None:
        return False
    words = f"{reason}; it gets no job until {as_utc(until)}, then it is tried again"
    advice = f"`cigri cluster nodes {cluster} --admit {node}` gives it jobs at once"
    event = NewEvent(
        NODE_EXCLUDED, EventLevel.WARNING, _subject(cluster, node), f"{words}; {advice}", cluster_id=cluster_id
    )
    put_events(conn, [event])
    return True


def admit_nodes(conn: Connection, cluster_id: int, cluster: str, nodes: Collection[str], by: str) -> int:
    """Forget what was held against these nodes; give the number of those of which something was."""
    is_admitted = and_(NodeRow.c.cluster_id == cluster_id, NodeRow.c.node.in_(nodes))
    gone = conn.scalars(delete(NodeRow).where(is_admitted).returning(NodeRow.c.node)).all()
    close_events(conn, [NODE_EXCLUDED], [_subject(cluster, node) for node in gone], by)
    return len(gone)


def _subject(cluster: str, node: str) -> str:
    return f"node {node} of {cluster}"
