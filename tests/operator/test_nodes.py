"""What operators see of sick nodes, and how they give them jobs again."""

import json
from datetime import UTC, datetime

import pytest

from cigri.database import Database
from cigri.flow.clusters import put_cluster
from cigri.flow.drains import list_node_drains
from cigri.flow.excluded_nodes import list_all_excluded, list_excluded, put_exclusion
from cigri.settings.sections import NodeSettings
from tests.factories import a_cluster
from tests.operator.conftest import Cigri


@pytest.fixture
def dahu(database: Database) -> int:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        for node in ("dahu-3", "dahu-17"):
            assert put_exclusion(conn, cluster, "dahu", node, "of 9 tasks 9 failed", NodeSettings())
    return cluster


def test_nodes_that_are_left_out_are_listed(cigri: Cigri, dahu: int) -> None:
    lines = cigri("cluster", "nodes").out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [["dahu", "dahu-17", "left"], ["dahu", "dahu-3", "left"]]
    assert lines[1].endswith("of 9 tasks 9 failed")
    (first, _) = json.loads(cigri("cluster", "nodes", "dahu", "--json").out)
    assert (first["node"], first["strikes"], first["is_out"]) == ("dahu-17", 1, True)


def test_an_admitted_node_gets_jobs_again(cigri: Cigri, dahu: int, database: Database) -> None:
    assert cigri("cluster", "nodes", "dahu", "--admit", "dahu-3").out == "Cluster dahu: dahu-3 may have jobs again\n"
    with database.begin() as conn:
        assert list_excluded(conn, dahu) == ["dahu-17"]


def test_what_is_not_left_out_cannot_be_admitted(cigri: Cigri, dahu: int) -> None:
    for words, error in (
        (("dahu", "--admit", "dahu-4"), "dahu-4: not left out"),
        (("--admit", "dahu-3"), "--admit and --drain take the name"),
        (("nowhere",), "no cluster nowhere"),
    ):
        told = cigri("cluster", "nodes", *words)
        assert told.status in (1, 2)
        assert error in told.err


def test_a_drained_node_gets_no_jobs_until_it_is_admitted(cigri: Cigri, dahu: int, database: Database) -> None:
    with database.begin() as conn:
        put_cluster(conn, "dahu", {"driver": "slurm"})
    said = cigri("cluster", "nodes", "dahu", "--drain", "dahu-9", "dahu-3", "--by", "2099-01-01T08:00Z").out
    assert said.startswith("Cluster dahu: dahu-9, dahu-3: no new jobs; what runs there is to end by ")
    with database.begin() as conn:
        assert [(one.node, one.deadline) for one in list_node_drains(conn, dahu)] == [
            (node, datetime(2099, 1, 1, 8, tzinfo=UTC)) for node in ("dahu-3", "dahu-9")
        ]
        assert list_all_excluded(conn) == {dahu: ["dahu-17", "dahu-3", "dahu-9"]}
        assert list_excluded(conn, dahu) == ["dahu-17", "dahu-3"]
    listed = json.loads(cigri("cluster", "nodes", "dahu", "--json").out)
    assert [one["node"] for one in listed if one["is_drained"]] == ["dahu-3", "dahu-9"]
    assert " drains " in cigri("cluster", "nodes").out
    assert cigri("cluster", "nodes", "dahu", "--admit", "dahu-9", "dahu-3").status == 0
    with database.begin() as conn:
        assert list_node_drains(conn, dahu) == []
        assert list_all_excluded(conn) == {dahu: ["dahu-17"]}


def test_a_node_is_drained_only_where_and_when_that_can_be(cigri: Cigri, dahu: int) -> None:
    for words, error in (
        (("dahu", "--drain", "dahu-4"), "--drain and --by go together"),
        (("dahu", "--by", "+1h"), "--drain and --by go together"),
        (("--drain", "dahu-4", "--by", "+1h"), "take the name of one cluster"),
        (("dahu", "--drain", "dahu-4", "--by", "+1h", "--admit", "dahu-3"), "nothing else beside them"),
        (("dahu", "--drain", "dahu-4", "--by", "+1h"), "dahu is one host"),
    ):
        told = cigri("cluster", "nodes", *words)
        assert told.status in (1, 2)
        assert error in told.err


def test_the_jobs_of_a_node_keep_the_notice_that_they_were_promised(
    cigri: Cigri, dahu: int, database: Database
) -> None:
    with database.begin() as conn:
        put_cluster(conn, "dahu", {"driver": "slurm", "features": {"grace_secs_job": 600}})
    told = cigri("cluster", "nodes", "dahu", "--drain", "dahu-4", "--by", "+90s")
    assert "--by +90s is too soon: jobs on dahu are promised a notice of 600 s" in told.err
