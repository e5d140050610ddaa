"""What operators see of sick nodes, and how they give them jobs again."""

import json

import pytest

from cigri.database import Database
from cigri.flow.anyone_to_runner import list_excluded, put_exclusion
from cigri.settings import NodeSettings
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
        (("--admit", "dahu-3"), "--admit takes the name"),
        (("nowhere",), "no cluster nowhere"),
    ):
        told = cigri("cluster", "nodes", *words)
        assert told.status in (1, 2)
        assert error in told.err
