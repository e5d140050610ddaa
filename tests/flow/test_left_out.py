"""Cores of nodes that are left out as sick are not offered to anybody, though the batch system calls them free."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, insert, select

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.flow.cluster_states import put_cluster_state
from cigri.flow.excluded_nodes import put_exclusion
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from cigri.settings.sections import NodeSettings
from cigri.tables.clusters import ClusterState, ClusterUsage
from cigri.tables.resources import NodeClass
from tests.factories import NOON, a_cluster, set_time

pytestmark = pytest.mark.noon

SIZE = 8
LATER = NOON + timedelta(minutes=1)


def a_cluster_of_nodes(conn: Connection, excluded: int, cores: int = SIZE) -> int:
    """Nodes of so many cores, some of which are left out for half an hour."""
    cluster = a_cluster(conn)
    about = {"cluster_id": cluster, "queue": None, "at": NOON, "nodes": 2}
    if cores:
        conn.execute(insert(NodeClass), [{**about, "properties": {"cores": one}} for one in (1, cores)])
    for number in range(excluded):
        put_exclusion(conn, cluster, "dahu", f"n{number}", "sick", NodeSettings())
    return cluster


def free(conn: Connection, cluster: int, seen: int, now: datetime = LATER) -> int:
    set_time(conn, now)
    put_cluster_state(conn, cluster, Capacity(32, seen, 30 - seen, 2), 0)
    (room,) = list_schedulable_clusters(conn)
    for row in (ClusterState, ClusterUsage):
        kept = conn.execute(select(row.c.free, row.c.free + row.c.used + row.c.unavailable).order_by(row.c.at.desc()))
        assert kept.first() == (room.free, 32)
    return room.free


@pytest.mark.parametrize(
    ("excluded", "cores", "seen", "left"),
    [
        pytest.param(0, SIZE, 20, 20, id="none is left out"),
        pytest.param(1, SIZE, 20, 12, id="one"),
        pytest.param(2, SIZE, 20, 4, id="two"),
        pytest.param(1, SIZE, 5, 0, id="no core is free but there"),
        pytest.param(1, 0, 20, 20, id="how large nodes are is not known"),
    ],
)
def test_free_cores_of_nodes_that_are_left_out_are_not_there(
    database: Database, excluded: int, cores: int, seen: int, left: int
) -> None:
    with database.begin() as conn:
        assert free(conn, a_cluster_of_nodes(conn, excluded, cores), seen) == left


def test_they_come_back_once_the_node_is_on_trial(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster_of_nodes(conn, 1)
        assert free(conn, cluster, 20, NOON + timedelta(seconds=NodeSettings().backoff - 1)) == 12
        assert free(conn, cluster, 20, NOON + timedelta(seconds=NodeSettings().backoff)) == 20
