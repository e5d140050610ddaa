"""A declared cluster by its name."""

from sqlalchemy import Connection

from cigri.errors import NotFound
from cigri.flow.clusters import ClusterRow, find_cluster


def find(conn: Connection, name: str) -> ClusterRow:
    """Raise NotFound when there is none."""
    cluster = find_cluster(conn, name)
    if cluster is None:
        raise NotFound(f"no cluster {name}; `cigri cluster list` shows them")
    return cluster
