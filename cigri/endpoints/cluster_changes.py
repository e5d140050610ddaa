"""How clusters are used, as operators say it; what one is, cluster_declarations tells."""

from typing import TYPE_CHECKING

from cigri.api_models.changes import ChangeConfirmation
from cigri.api_models.clusters import ExcludedNodeView
from cigri.endpoints import Access, change_endpoint, read_endpoint
from cigri.endpoints.cursors import KeyPagination, page_of
from cigri.endpoints.paging import USUAL_ROWS, PageLimit
from cigri.endpoints.parameters import FromZero, about
from cigri.errors import NotFound, UsageError
from cigri.formats.units import as_instant
from cigri.identity.callers import AccessScope, Caller

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from cigri.flow.clusters import ClusterRow

MOST_NODES = 10_000  # named at once
EXCLUDED_NODES_BY = KeyPagination("excluded_nodes", {"cluster": str, "node": str, "is_drained": int})


@change_endpoint("/clusters/{cluster}/enable", Access.OPERATOR, AccessScope.OPERATE)
def enable_cluster(conn: "Connection", _caller: Caller, *, cluster: str) -> ChangeConfirmation:
    """It gets jobs; past failures are forgiven, and a drain is over."""
    from cigri.flow import clusters

    clusters.enable_cluster(conn, cluster, enabled=True)
    return ChangeConfirmation(f"Cluster {cluster} gets jobs")


@change_endpoint("/clusters/{cluster}/disable", Access.OPERATOR, AccessScope.OPERATE)
def disable_cluster(conn: "Connection", _caller: Caller, *, cluster: str) -> ChangeConfirmation:
    """It gets no new jobs; those it has are watched to their end."""
    from cigri.flow import clusters

    clusters.enable_cluster(conn, cluster, enabled=False)
    return ChangeConfirmation(f"Cluster {cluster} gets no new jobs")


@change_endpoint("/clusters/{cluster}/drain", Access.OPERATOR, AccessScope.OPERATE)
def drain_cluster(
    conn: "Connection", caller: Caller, *, cluster: str, by: str, kill: bool = False, keep: FromZero = 0
) -> ChangeConfirmation:
    """No more jobs, and those that run are told when they must be over."""
    from cigri.flow.drains import ClusterDrain, put_drain

    if keep < 0:
        raise UsageError(f"keep {keep}: a number of cores", "keep")
    deadline = _deadline(conn, _find(conn, cluster), by)
    put_drain(conn, cluster, ClusterDrain(deadline, kill, keep, caller.user))
    return ChangeConfirmation(f"Cluster {cluster} gets no new jobs; what runs is to end by {as_instant(deadline)}")


@change_endpoint("/clusters/{cluster}/undrain", Access.OPERATOR, AccessScope.OPERATE)
def undrain_cluster(conn: "Connection", _caller: Caller, *, cluster: str) -> ChangeConfirmation:
    """It gets jobs again, and those that run are told that they may go on."""
    from cigri.flow import clusters
    from cigri.flow.drains import find_drain

    if find_drain(conn, _find(conn, cluster).id) is None:
        raise UsageError(f"cluster {cluster} is not drained; `cigri cluster enable {cluster}` gives it jobs", "cluster")
    clusters.enable_cluster(conn, cluster, enabled=True)
    return ChangeConfirmation(f"Cluster {cluster} gets jobs")


@read_endpoint("/nodes/excluded", Access.OPERATOR, EXCLUDED_NODES_BY)
def excluded_nodes(
    conn: "Connection", _caller: Caller, *, cluster: str = "", after: str = "", limit: PageLimit = USUAL_ROWS
) -> list[ExcludedNodeView]:
    """Nodes that get no jobs, and those on trial after that: of one cluster, or of all."""
    from cigri.flow.excluded_nodes import list_excluded_nodes

    if cluster:
        _find(conn, cluster)
    return page_of(list_excluded_nodes(conn, cluster), EXCLUDED_NODES_BY, after, limit)


@change_endpoint("/clusters/{cluster}/nodes/admit", Access.OPERATOR, AccessScope.OPERATE)
def admit_nodes(conn: "Connection", caller: Caller, *, cluster: str, nodes: list[str]) -> ChangeConfirmation:
    """They get jobs at once, and what was held against them is forgotten."""
    from cigri.flow import excluded_nodes
    from cigri.flow.drains import end_node_drains

    here = _find(conn, cluster)
    excluded = {node.node for node in excluded_nodes.list_excluded_nodes(conn, cluster)}
    if strange := sorted(set(_some(nodes)) - excluded):
        raise UsageError(f"{', '.join(strange)}: not left out; `cigri cluster nodes {cluster}` lists them", "nodes")
    excluded_nodes.admit_nodes(conn, here.id, cluster, nodes, caller.user)
    end_node_drains(conn, here.id, nodes)
    return ChangeConfirmation(f"Cluster {cluster}: {', '.join(nodes)} may have jobs again")


@change_endpoint("/clusters/{cluster}/nodes/drain", Access.OPERATOR, AccessScope.OPERATE)
def drain_nodes(conn: "Connection", caller: Caller, *, cluster: str, nodes: list[str], by: str) -> ChangeConfirmation:
    """They get no new jobs; what runs there is told when it must be over."""
    from cigri.flow.drains import NodeDrainRequest, put_node_drain

    here = _find(conn, cluster)
    if here.config.in_use.driver == "local":
        instead = f"`cigri cluster drain {cluster}`"
        raise UsageError(f"{cluster} is one host, no node of which can be left out: {instead}", "cluster")
    deadline = _deadline(conn, here, by)
    for node in _some(nodes):
        put_node_drain(conn, here.id, NodeDrainRequest(node, deadline, caller.user))
    ends = f"what runs there is to end by {as_instant(deadline)}"
    return ChangeConfirmation(f"Cluster {cluster}: {', '.join(nodes)}: no new jobs; {ends}")


def _some(nodes: list[str]) -> list[str]:
    if not 0 < len(nodes) <= MOST_NODES:
        raise UsageError(f"nodes: name 1 to {MOST_NODES} of them", "nodes")
    return nodes


def _find(conn: "Connection", name: str) -> "ClusterRow":
    from cigri.flow.clusters import find_cluster

    cluster = find_cluster(conn, name)
    if cluster is None:
        raise NotFound(f"no cluster {name}; `gridclusters` shows them")
    return cluster


def _deadline(conn: "Connection", cluster: "ClusterRow", by: str) -> "datetime":
    from cigri.database import server_time
    from cigri.flow.drains import find_longest_notice
    from cigri.settings.deadlines import read_deadline

    notice = max(cluster.config.features.grace_secs_job, find_longest_notice(conn, cluster.id))
    with about("by"):
        return read_deadline(by, server_time(conn), cluster.name, notice)
