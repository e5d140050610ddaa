"""The plans of what is asked of pools in each pass and for each batch, on a grid of many pools and sites."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, text

from cigri.database import Database, embedded
from cigri.flow.submit_pools import has_stale
from cigri.flow.views.job_destinations import find_destination, list_without_queue
from tests.factories import a_cluster
from tests.flow.test_plans import Large, Node, nodes_of
from tests.pools.made import GB, put_nodes, split, submit

pytestmark = pytest.mark.noon

SITES, POOLS, TASKS = 20, 100, 50_000
SHUT = 7  # sites that are too small for every second pool
MORE = "INSERT INTO tasks (campaign_id, bucket_id, number, parameter)"

UNUSED = """
INSERT INTO submit_pools (digest, project, requirements, created_at, updated_at, last_used_at, version)
    SELECT n, 'old', '{}', updated_at, updated_at, updated_at, version
    FROM submit_pools, generate_series(1, 5000) AS n WHERE id = 1
"""


@pytest.fixture(scope="module")
def large(server: Path) -> Iterator[Large]:
    """Every second pool may not go to some sites; the first campaign has two buckets, one of very many tasks."""
    with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn:
        conn.execute("CREATE DATABASE pools TEMPLATE template_cigri")
    database = Database(embedded.url(server, "pools"))
    with database.begin() as conn:
        for site in range(SITES):
            cluster = a_cluster(conn, f"c{site}")
            put_nodes(conn, cluster, {"memory": (64 if site < SHUT else 512) * GB})
        for pool in range(POOLS):
            memory = f"{1000 + pool} MB" if pool % 2 else f"{100 + pool} GB"
            submit(conn, {"memory": memory}, clusters=[f"c{site}" for site in range(SITES)])
        split(conn, 1, [0], 2)
        conn.execute(text(UNUSED))
        conn.execute(text(f"{MORE} SELECT 1, 1, n, '1' FROM generate_series(9, {TASKS}) AS n"))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        conn.exec_driver_sql("VACUUM ANALYZE")
    yield Large(database, 1, [])
    database.close()
    with psycopg.connect(embedded.url(server, "postgres"), autocommit=True) as conn:
        conn.execute("DROP DATABASE pools WITH (FORCE)")


def most_rows(large: Large, look: Callable[[Connection], object]) -> tuple[float, list[Node]]:
    """Of any node of the plans, and the nodes that read a table."""
    found = nodes_of(large.database, look)
    return max(node.rows for node in found), [node for node in found if node.table]


def test_a_pass_with_no_pool_to_compute_looks_at_two_indexes(large: Large) -> None:
    most, nodes = most_rows(large, lambda conn: has_stale(conn, 900.0))
    assert most <= 1
    pools = {node.by for node in nodes if node.table == "submit_pools"}
    assert pools <= {"ix_submit_pools_version", "ix_submit_pools_updated_at"}
    assert pools


def test_what_is_closed_is_found_by_pools_and_sites_not_by_tasks(large: Large) -> None:
    with large.database.begin() as conn:
        assert len(list_without_queue(conn)) == (POOLS // 2 - 1) * SHUT, (
            "not the first, which has a bucket that may go there"
        )
    most, nodes = most_rows(large, list_without_queue)
    assert most <= (POOLS + 1) * SITES
    tasks = [node for node in nodes if node.table == "tasks"]
    assert not [node for node in tasks if "Seq" in node.kind]
    assert 0 < sum(node.rows for node in tasks) <= 4


def test_where_a_batch_goes_is_found_by_its_bucket(large: Large) -> None:
    most, nodes = most_rows(large, lambda conn: find_destination(conn, 1, 1, 9))
    assert most <= SITES
    assert not [node for node in nodes if "Seq" in node.kind and node.table in ("bucket_pools", "submit_pools")]
