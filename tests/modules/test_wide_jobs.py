"""Jobs that take much of a node wait in the queues of clusters, beside narrow ones that go first; pure but the last."""

import pytest
from sqlalchemy import insert

from cigri.database import Database
from cigri.flow.views.cluster_demands import ClusterDemand
from cigri.flow.views.schedulable_clusters import SchedulableCluster, list_schedulable_clusters
from cigri.states import CampaignType
from cigri.tables.resources import NodeClass
from modules.metascheduler.progressive_filling import share_clusters
from tests.factories import NOON, a_cluster
from tests.modules.test_metascheduler_share import NO_SCOUTS, a_room, a_want, claims_of

NARROW, WIDE, WIDER = 1, 2, 3


def a_node_room(*, node: int = 8, total: int = 32, keep: int = 2, **changes: int) -> SchedulableCluster:
    return a_room(free=4, keep=keep, **changes)._replace(largest_node_cores=node, total=total)


def given(room: SchedulableCluster, *wants: ClusterDemand) -> dict[int, int]:
    """Jobs by campaign."""
    stock = share_clusters([room], list(wants), claims_of(wants), NO_SCOUTS)
    return {campaign: jobs for (campaign, _), jobs in stock.given.items() if jobs}


def test_wide_jobs_wait_for_as_many_cores_as_the_cluster_has_and_narrow_ones_start() -> None:
    assert given(a_node_room(), a_want(NARROW), a_want(WIDE, width=8)) == {WIDE: 4, NARROW: 4}


def test_those_that_wait_already_count() -> None:
    waiting = a_want(WIDE, width=8, live=3)._replace(queued=3)
    assert given(a_node_room(), a_want(NARROW), waiting)[WIDE] == 1
    assert WIDE not in given(a_node_room(), a_want(NARROW), waiting._replace(queued=4, live=4))


def test_of_several_the_first_in_line_comes_first() -> None:
    assert given(a_node_room(), a_want(NARROW), a_want(WIDE, width=8, waiting=3), a_want(WIDER, width=8)) == {
        WIDE: 3,
        WIDER: 1,
        NARROW: 4,
    }


@pytest.mark.parametrize(
    ("room", "wide"),
    [
        (a_node_room(node=0), a_want(WIDE, width=8)),
        (a_node_room(node=17), a_want(WIDE, width=8)),
        (a_node_room(node=1), a_want(WIDE, width=1)),
        (a_node_room(keep=0), a_want(WIDE, width=8)),
        (a_node_room(), a_want(WIDE, width=8, waiting=0)),
        (a_node_room(), a_want(WIDE, width=8, max_jobs=2, live=2)),
        (a_node_room(total=7), a_want(WIDE, width=8)),
    ],
    ids=[
        "nodes unknown",
        "no half of a node",
        "one core",
        "nothing is kept waiting",
        "no tasks",
        "max_jobs",
        "too small",
    ],
)
def test_whoever_is_first_in_line_goes_first_otherwise(room: SchedulableCluster, wide: ClusterDemand) -> None:
    assert WIDE not in given(room, a_want(NARROW), wide)


def test_wide_jobs_among_themselves_wait_as_others_do() -> None:
    assert given(a_node_room(), a_want(WIDE, width=8)) == {WIDE: 2}


def test_a_test_is_no_matter_of_queues() -> None:
    wide = a_want(WIDE, width=8, type=CampaignType.TEST)
    assert given(a_node_room(), a_want(NARROW), wide)[WIDE] == 1


def test_how_large_nodes_are_is_what_was_found(database: Database) -> None:
    with database.begin() as conn:
        known, _ = a_cluster(conn, "dahu"), a_cluster(conn, "luke")
        about = {"cluster_id": known, "at": NOON, "nodes": 2}
        conn.execute(insert(NodeClass), [{**about, "properties": {"cores": cores}} for cores in (8, 32, 16)])
        conn.execute(insert(NodeClass), {**about, "properties": {"memory": 1}})
        assert {room.name: room.largest_node_cores for room in list_schedulable_clusters(conn)} == {
            "dahu": 32,
            "luke": 0,
        }
