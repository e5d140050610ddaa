"""`cigri pools`: what jobs demand of queues, and how many are eligible."""

import json
from typing import Any

import pytest

from cigri.database import Database
from tests.operator.conftest import Cigri
from tests.pools.made import a_queue, submit, two_clusters

pytestmark = pytest.mark.noon


def fill(database: Database) -> None:
    with database.begin() as conn:
        fat, _ = two_clusters(conn)
        a_queue(conn, fat, "night")
        submit(conn, {"memory": "100 GB"}, project="bio", resources={"cpu": 2, "nodes": 3, "mem": 2048, "gpu": 0})
        submit(conn, None), submit(conn, None, queue="night")


def test_pools_are_listed_with_what_their_jobs_demand(cigri: Cigri, database: Database) -> None:
    fill(database)
    lines = cigri("pools").out.splitlines()
    assert lines[0].split() == ["Pool", "Project", "Buckets", "Queues", "Computed", "Jobs", "Requirements"]
    assert lines[1].endswith("2026-03-01 12:00:00  3 nodes of 2 cores, 2 GB, 1 h  memory >= 100 GB")
    assert lines[1].split()[1:4] == ["bio", "1", "2"]
    assert [line.split()[1:4] for line in lines[2:]] == [["-", "1", "3"], ["-", "1", "2"]]
    assert "1 core, 1 h" in lines[2]
    assert "queue night, 1 core, 1 h" in lines[3]


def test_those_of_a_queue(cigri: Cigri, database: Database) -> None:
    fill(database)

    def found(*words: str) -> list[Any]:
        return [pool["id"] for pool in json.loads(cigri("pools", *words, "--json").out)]

    assert found() == [1, 2, 3]
    assert found("fat") == [1, 2]
    assert found("night@fat") == [1, 2, 3]
    assert found("thin") == [2, 3]
    refused = cigri("pools", "day@fat")
    assert refused.status == 1
    assert "no queue day@fat" in refused.err
