"""`gridclusters --properties` and `--where` as a user meets them."""

import json

import pytest

from cigri.cli import gridclusters
from cigri.database import Database
from cigri.flow.clusters import find_cluster
from cigri.flow.discovered_nodes import put_no_nodes, put_nodes
from cigri.flow.resource_documents import put_description
from cigri.resources.document import read_document
from cigri.resources.nodes import AlikeNodes
from tests.cli.running import Run
from tests.factories import a_cluster

pytestmark = pytest.mark.noon

COMMAND = gridclusters
GB = 1024**3
TEXT = """
[cluster.dahu]
site = "grenoble"
properties.software = ["gcc"]
[cluster.dahu.project.chem]
"software+" = ["gromacs"]
[cluster.dahu.queue.fat]
remote_name = "fatmem"
requires = "walltime <= 2 h"
properties.memory = "2 TB"
"""


@pytest.fixture(autouse=True)
def described(database: Database) -> None:
    with database.begin() as conn:
        for name in ("dahu", "luke"):
            a_cluster(conn, name)
        put_description(conn, read_document(TEXT), TEXT, "root")
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        thin, thick = {"cores": 32, "memory": 192 * GB}, {"cores": 32, "memory": 384 * GB, "gpus": 2}
        put_nodes(conn, cluster, [AlikeNodes(thin, 20), AlikeNodes(thick, 4)])


@pytest.mark.usefixtures("both_ways")
def test_each_value_is_shown_with_its_source_and_the_nodes_that_have_it(run: Run) -> None:
    lines = [line.split() for line in run("-p", "-H").out.splitlines()]
    assert lines == [
        ["(default)@dahu", "all", "site", "grenoble", "cluster", "dahu"],
        ["(default)@dahu", "all", "cores", "32", "discovered"],
        ["(default)@dahu", "4", "gpus", "2", "discovered"],
        ["(default)@dahu", "20", "memory", "192", "GB", "discovered"],
        ["(default)@dahu", "4", "memory", "384", "GB", "discovered"],
        ["(default)@dahu", "all", "software", "['gcc']", "cluster", "dahu"],
        ["fat@dahu", "all", "site", "grenoble", "cluster", "dahu"],
        ["fat@dahu", "all", "remote_name", "fatmem", "queue", "fat@dahu"],
        ["fat@dahu", "all", "requires", "walltime", "<=", "2", "h", "queue", "fat@dahu"],
        ["fat@dahu", "all", "cores", "32", "discovered"],
        ["fat@dahu", "4", "gpus", "2", "discovered"],
        ["fat@dahu", "all", "memory", "2", "TB", "queue", "fat@dahu"],
        ["fat@dahu", "all", "software", "['gcc']", "cluster", "dahu"],
        ["(default)@luke", "all", "site", "luke", "cluster", "luke"],
    ]


@pytest.mark.usefixtures("both_ways")
def test_it_is_told_when_a_cluster_gave_no_sensible_answer(run: Run, database: Database) -> None:
    before = run("-p").out
    with database.begin() as conn:
        cluster = find_cluster(conn, "dahu")
        assert cluster is not None
        put_no_nodes(conn, cluster, "sinfo: no answer at all")
    said = run("-p")
    assert said.out == before
    assert "dahu: what nodes it has could not be read" in said.err
    assert run("-p", "luke").err == ""


def test_a_project_sees_what_is_said_for_it(run: Run) -> None:
    [line] = [
        line
        for line in run("--properties", "--project", "chem", "dahu").out.splitlines()
        if "(default)" in line and "software" in line
    ]
    assert "['gcc', 'gromacs']" in line
    assert line.endswith("cluster dahu + cluster dahu, project chem")


@pytest.mark.usefixtures("both_ways")
def test_programs_get_the_same(run: Run) -> None:
    default, fat = json.loads(run("-p", "dahu", "--json").out)
    assert (default["queue"], default["site"], default["requires"]) == ("", "grenoble", None)
    assert (fat["queue"], fat["remote_name"], fat["driver"]) == ("fat", "fatmem", "local")
    assert [some["nodes"] for some in fat["classes"]] == [20, 4]
    assert fat["classes"][1]["properties"]["memory"] == {
        "value": 2048 * GB,
        "shown": "2 TB",
        "source": "queue fat@dahu",
    }


@pytest.mark.usefixtures("both_ways")
def test_queues_that_satisfy_an_expression_are_shown_as_a_tree(run: Run) -> None:
    assert run("--where", "memory >= 1 TB").out == "grenoble\n  dahu\n    fat\n"
    assert run("--where", "gpus >= 2").out == "grenoble\n  dahu\n    (default)\n    fat\n"
    assert json.loads(run("--where", "gpus >= 2", "--json").out) == {"grenoble": {"dahu": ["", "fat"]}}
    assert run("--where", "software == 'gromacs'", "-P", "chem").out
    assert json.loads(run("--where", "memory >= 1 TB", "luke", "--json").out) == {}
    nothing = run("--where", "software == 'gromacs'")
    assert (nothing.status, nothing.out) == (0, "")
    assert "no queue satisfies this" in nothing.err


@pytest.mark.parametrize(
    "words", [("--where", "memory >="), ("-P", "x"), ("-p", "--where", "x"), ("-H", "--where", "x")]
)
def test_what_makes_no_sense_is_refused(run: Run, words: tuple[str, ...]) -> None:
    assert run(*words).status == 2
