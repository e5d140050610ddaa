"""The whole grid as those see it who decide what may run where: each queue, and the properties of its nodes.
Read by: matcher, operator, updator, users.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, cast, func, select

from cigri.requirements.value_kinds import BUILT_IN, Kinds, PropertyValue, ValueKind
from cigri.resources.inheritance import (
    DeclarationPlace,
    Declarations,
    DeclaredValue,
    QueueLineage,
    SourcedValue,
    effective,
)
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Grid
from cigri.tables.resources import DeclaredProperty, Discovery, NodeClass, PropertyKind, Queue


class SourcedNodeClass(NamedTuple):
    """Properties of nodes that are alike, and their number; None: nobody has looked at them."""

    properties: Mapping[str, SourcedValue]
    nodes: int | None


class SourcedQueue(NamedTuple):
    """A queue, with the source of each property of each of its classes of nodes; there is at least one class."""

    queue_id: int
    cluster_id: int
    place: QueueLineage
    remote_name: str
    requires: Mapping[str, Any] | None
    classes: tuple[SourcedNodeClass, ...]
    driver: str
    options: str


class QueueView(NamedTuple):
    """A queue and its classes of nodes, at least one; each has also its site, cluster and queue (by logical name).

    `requires`: what the queue demands of jobs, as a canonical requirement; None: nothing. `driver` chooses among its
    nodes, with these `options` as JSON; empty: nobody does, for another host stands in for the cluster.
    """

    queue_id: int
    cluster_id: int
    cluster: str
    site: str
    queue: str
    remote_name: str
    requires: Mapping[str, Any] | None
    classes: tuple[Mapping[str, PropertyValue], ...]
    driver: str = ""
    options: str = "{}"


class ProjectQueues(NamedTuple):
    """Queues as jobs of each project see them, the kinds of their properties, and the version that they are of."""

    version: int
    kinds: Kinds
    queues: Mapping[str, Sequence[QueueView]]


def list_queues(conn: Connection, project: str = "") -> list[QueueView]:
    """Every queue as jobs of a project see it, by cluster, the default queue first."""
    return [_view(queue) for queue in list_sourced(conn, project)]


def see_queues(conn: Connection, projects: Iterable[str]) -> ProjectQueues:
    """By project, as its jobs see them. The version is read first: a change meanwhile makes the result stale."""
    version = resources_version(conn)
    return ProjectQueues(version, property_kinds(conn), {project: list_queues(conn, project) for project in projects})


def list_sourced(conn: Connection, project: str = "") -> list[SourcedQueue]:
    """As list_queues, with where each value comes from."""
    declared, discovered = list_declared(conn, project), _discovered(conn)
    is_away = func.coalesce(Cluster.c.config["fallback_because"].astext, "") != ""
    queues = conn.execute(
        select(Queue.c.id, Queue.c.cluster_id, Queue.c.name, Queue.c.remote_name, Queue.c.requires)
        .add_columns(Cluster.c.name, Cluster.c.site, Cluster.c.config["driver"].astext, is_away)
        .add_columns(func.coalesce(Cluster.c.config["options"].astext, "{}"))
        .join(Cluster, Cluster.c.id == Queue.c.cluster_id)
        .order_by(Cluster.c.name, Queue.c.name)
    )
    sourced = []
    for queue_id, cluster_id, name, remote_name, requires, cluster, site, driver, stands_in, options in queues:
        place = QueueLineage("local" if stands_in else driver, site or cluster, cluster, name)
        chooser = ("", "{}") if stands_in else (driver, options)
        nodes = [*discovered.get((cluster_id, None), []), *discovered.get((cluster_id, remote_name), [])]
        classes = [SourcedNodeClass(effective(place, project, declared, values), number) for values, number in nodes]
        if not classes:
            classes = [SourcedNodeClass(effective(place, project, declared), None)]
        sourced.append(SourcedQueue(queue_id, cluster_id, place, remote_name, requires, tuple(classes), *chooser))
    return sourced


def list_declared(conn: Connection, project: str) -> Declarations:
    """By place the properties that are declared for jobs of all projects, and of this one."""
    row = DeclaredProperty
    declared: dict[DeclarationPlace, dict[str, DeclaredValue]] = defaultdict(dict)
    for level, place, whose, name, value, extends in conn.execute(
        select(row.c.level, row.c.place, row.c.project, row.c.name, row.c.value, row.c.extends)
        .where(row.c.project.in_({"", project}))
        .order_by(row.c.level, row.c.place, row.c.project, row.c.name)
    ):
        declared[DeclarationPlace(level, place, whose)][name] = DeclaredValue(value, extends)
    return declared


def property_kinds(conn: Connection) -> Kinds:
    """By name of the property: those that any node may have, and those that are declared."""
    declared = conn.execute(select(PropertyKind.c.name, PropertyKind.c.kind))
    return {**BUILT_IN, **{name: ValueKind(kind) for name, kind in declared}}


def list_unreadable(conn: Connection) -> dict[str, str]:
    """By cluster name, what was wrong with its last answer about its nodes."""
    row = Discovery
    statement = (
        select(Cluster.c.name, row.c.problem).join(row, row.c.cluster_id == Cluster.c.id).where(row.c.problem != "")
    )
    return {name: problem for name, problem in conn.execute(statement.order_by(Cluster.c.name))}


def resources_version(conn: Connection) -> int:
    """Another one after each change of what list_queues tells; read it before what is computed from them."""
    return conn.execute(select(Grid.c.resources_version)).scalar_one()


def count_nodes(conn: Connection, cluster_id: int) -> int:
    """Nodes that a cluster was found to have, at least: those of its largest queue, as queues may share nodes."""
    row = NodeClass.c
    of_each = select(cast(func.sum(row.nodes), BigInteger)).where(row.cluster_id == cluster_id).group_by(row.queue)
    return max(conn.scalars(of_each), default=0)


def _discovered(conn: Connection) -> dict[tuple[int, str | None], list[tuple[Mapping[str, PropertyValue], int]]]:
    """Classes of nodes with their numbers, by cluster and remote name of their queue."""
    classes = defaultdict(list)
    row = NodeClass
    for cluster_id, queue, properties, nodes in conn.execute(
        select(row.c.cluster_id, row.c.queue, row.c.properties, row.c.nodes).order_by(row.c.id)
    ):
        classes[cluster_id, queue].append((properties, nodes))
    return classes


def _view(queue: SourcedQueue) -> QueueView:
    place = queue.place
    own = {"site": place.site, "cluster": place.cluster, "queue": place.queue}
    classes = tuple(
        {name: sourced.value for name, sourced in node_class.properties.items()} | own for node_class in queue.classes
    )
    names = (queue.queue_id, queue.cluster_id, place.cluster, place.site, place.queue)
    return QueueView(*names, queue.remote_name, queue.requires, classes, queue.driver, queue.options)
