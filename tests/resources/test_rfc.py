"""What RFC 7 of DIRAC says of the description of resources, sentence by sentence, on a described grid."""

from collections.abc import Iterator, Mapping

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.endpoints.clusters import EligibleTree, eligible_tree
from cigri.flow.clusters import find_cluster
from cigri.flow.discovered_nodes import put_nodes
from cigri.flow.resource_documents import put_description
from cigri.flow.views.queues import list_queues, property_kinds, resources_version
from cigri.requirements import PropertyValue, parse_requirement
from cigri.resources.document import read_document
from cigri.resources.nodes import AlikeNodes
from tests.factories import a_cluster

pytestmark = pytest.mark.noon

GRID = """
[site.cern.properties]
os = "el9"
service = ["squid"]
[site.cern.project.lhcb]
service = ["squid", "conddb"]
[cluster.ce1]
site = "cern"
properties.cpumodel = "Intel Xeon"
[cluster.ce1.queue.short]
properties.max_walltime = "2 h"
[cluster.ce1.queue.long]
properties = { max_walltime = "4 d", os = "el8" }
[cluster.ce2]
site = "cern"
[cluster.ce3.project.lhcb]
os = "el9"
"""


def described(conn: Connection, text: str = GRID) -> None:
    for name in ("ce1", "ce2", "ce3"):
        a_cluster(conn, name)
    put_description(conn, read_document(text), text, "root")


def selected(conn: Connection, wanted: str | Mapping[str, object], project: str = "") -> EligibleTree:
    kinds = property_kinds(conn)
    return eligible_tree(list_queues(conn, project), parse_requirement(wanted, kinds), kinds)


@pytest.fixture
def conn(database: Database) -> Iterator[Connection]:
    with database.begin() as conn:
        described(conn)
        yield conn


def queue(conn: Connection, name: str, cluster: str = "ce1", project: str = "") -> Mapping[str, PropertyValue]:
    [found] = [view for view in list_queues(conn, project) if (view.queue, view.cluster) == (name, cluster)]
    [only] = found.classes
    return only


def test_new_characteristics_are_added_without_changing_the_code_or_the_schema(conn: Connection) -> None:
    text = GRID + "[properties]\nquantum_volume = 64\n"
    put_description(conn, read_document(text), text, "root")
    assert len(selected(conn, {"Quantum_Volume": 64})) == 2
    assert selected(conn, {"Quantum_Volume": 65}) == {}


def test_arbitrary_parameters_are_specified_at_each_level_valid_for_all_the_vos(conn: Connection) -> None:
    for project in ("", "lhcb", "atlas"):
        found = queue(conn, "short", project=project)
        assert (found["os"], found["cpumodel"], found["max_walltime"]) == ("el9", "Intel Xeon", 7200)


def test_parameters_are_valid_for_a_given_vo(conn: Connection) -> None:
    assert queue(conn, "short", project="lhcb")["service"] == ["squid", "conddb"]
    assert queue(conn, "short", project="atlas")["service"] == ["squid"]
    assert queue(conn, "", "ce3", "lhcb")["os"] == "el9"
    assert "os" not in queue(conn, "", "ce3")


def test_a_set_of_resources_is_selected_as_a_tree_that_starts_from_the_site_level(conn: Connection) -> None:
    assert selected(conn, {"OS": "el9"}) == {"cern": {"ce1": ["", "short"], "ce2": [""]}}
    assert selected(conn, {"OS": "el9"}, "lhcb") == {"cern": {"ce1": ["", "short"], "ce2": [""]}, "ce3": {"ce3": [""]}}
    assert selected(conn, {"Service": "conddb"}, "lhcb") == {"cern": {"ce1": ["", "long", "short"], "ce2": [""]}}
    assert selected(conn, {"Service": "conddb"}) == {}


def test_the_selection_is_by_the_cluster_and_the_queue_at_once(conn: Connection) -> None:
    assert selected(conn, "cpumodel == 'Intel Xeon' and max_walltime >= 3 d") == {"cern": {"ce1": ["long"]}}


def test_queues_inherit_parameters_from_their_computing_elements_and_sites(conn: Connection) -> None:
    assert queue(conn, "short")["cpumodel"] == "Intel Xeon"
    assert queue(conn, "short")["os"] == "el9"


def test_computing_elements_inherit_their_parameters_from_the_sites(conn: Connection) -> None:
    assert queue(conn, "", "ce2")["os"] == "el9"
    assert "cpumodel" not in queue(conn, "", "ce2")


def test_queues_override_what_is_specified_on_the_computing_element_or_site_level(conn: Connection) -> None:
    assert queue(conn, "long")["os"] == "el8"
    assert selected(conn, {"OS": "el8"}) == {"cern": {"ce1": ["long"]}}


def test_what_nodes_have_selects_too_and_what_the_operator_says_of_their_queue_wins(
    conn: Connection,
) -> None:
    cluster = find_cluster(conn, "ce1")
    assert cluster is not None
    found = [AlikeNodes({"memory": 64 * 1024**3, "os": "el7", "max_walltime": 99}, 3), AlikeNodes({"cores": 4}, 1)]
    put_nodes(conn, cluster, found)
    assert selected(conn, "memory >= 64 GB") == {"cern": {"ce1": ["", "long", "short"]}}
    assert selected(conn, "memory >= 64 GB and os == 'el8' and max_walltime >= 4 d") == {"cern": {"ce1": ["long"]}}
    assert selected(conn, "memory >= 64 GB and cores >= 4") == {}  # no node has both
    assert selected(conn, "os == 'el7'") == {"cern": {"ce1": ["", "short"]}}


def test_each_description_that_is_put_replaces_the_one_before_and_is_a_version(conn: Connection) -> None:
    version = resources_version(conn)
    put_description(conn, read_document(""), "", "root")
    assert resources_version(conn) > version
    assert [(view.site, view.cluster, view.queue) for view in list_queues(conn)] == [
        (name, name, "") for name in ("ce1", "ce2", "ce3")
    ]
    assert all(set(view.classes[0]) == {"site", "cluster", "queue"} for view in list_queues(conn))


def test_a_queue_keeps_its_id_while_it_is_described(conn: Connection) -> None:
    before = {(view.queue, view.cluster): view.queue_id for view in list_queues(conn)}
    text = GRID.replace(
        "[cluster.ce1.queue.short]", '[cluster.ce1.queue.short]\nremote_name = "s"\nrequires = "cpu <= 4"'
    )
    put_description(conn, read_document(text), text, "root")
    after = {(view.queue, view.cluster): view for view in list_queues(conn)}
    assert {key: view.queue_id for key, view in after.items()} == before
    short = after["short", "ce1"]
    assert (short.remote_name, short.requires is not None) == ("s", True)
