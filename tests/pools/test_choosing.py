"""Queues whose nodes differ: what is required of them is told to their batch system, if it can be asked."""

from typing import Any

import pytest
from sqlalchemy import Connection, select

from cigri.database import Database
from cigri.drivers import BatchRequest
from cigri.eligibility.queues import choice_of
from cigri.errors import CigriError
from cigri.flow.batches import put_batch
from cigri.flow.clusters import find_cluster, put_cluster
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.tasks import take_waiting
from cigri.flow.views.queue_verdicts import list_whys
from cigri.flow.views.queues import QueueView, list_queues
from cigri.requirements import BUILT_IN, Comparison, ComparisonOperator, ValueKind, parse_requirement
from cigri.states import QueueRejectCode
from cigri.tables.pools import SubmitPoolQueue
from modules.runner.batch_spec import plan_batch
from tests.factories import a_cluster
from tests.pools.made import GB, match, put_nodes, refused, submit

pytestmark = pytest.mark.noon

OLD, NEW = {"features": ["big", "Old"], "memory": 8 * GB}, {"features": ["big", "New"], "memory": 16 * GB}
IS_NEW = Comparison("features", ComparisonOperator.EQ, "New", ValueKind.STRING)


def differing(conn: Connection, name: str, driver: str, **options: Any) -> int:
    cluster = a_cluster(conn, name, driver=driver, options=options)
    put_nodes(conn, cluster, OLD, NEW)
    return cluster


def planned(conn: Connection, campaign: int, cluster_id: int, name: str) -> BatchRequest:
    """What the runner asks of the batch system."""
    put_jobs(conn, campaign, [NewJob(cluster_id, 1, 60, take_waiting(conn, campaign, 1))])
    [launch] = list_launches(conn, cluster_id, 9, 9)
    batch, cluster = put_batch(conn, launch, cluster_id, "key"), find_cluster(conn, name)
    assert batch is not None
    assert cluster is not None
    return plan_batch(cluster, "key", launch, batch)[1]


def test_what_nodes_differ_in_is_asked_of_their_batch_system(database: Database) -> None:
    with database.begin() as conn:
        alpha = differing(conn, "alpha", "slurm")
        campaign = submit(conn, "new and big and memory >= 4 GB", clusters=["alpha"])
        assert planned(conn, campaign, alpha, "alpha").requirement == IS_NEW


def test_what_all_nodes_have_is_asked_of_nobody(database: Database) -> None:
    with database.begin() as conn:
        here = differing(conn, "here", "local", spool="/var/spool/cigri")
        campaign = submit(conn, "big and memory >= 4 GB", clusters=["here"])
        assert planned(conn, campaign, here, "here").requirement is None


def test_a_queue_whose_batch_system_cannot_be_asked_is_refused_with_what_it_can_be_asked_for(
    database: Database,
) -> None:
    with database.begin() as conn:
        differing(conn, "alpha", "slurm")
        differing(conn, "here", "local", spool="/var/spool/cigri")
        campaign = submit(conn, {"memory": "16 GB"}, clusters=["alpha", "here"])
        assert refused(conn, campaign) == {"here": "not_selectable"}
        told = "its nodes differ, and the batch system cannot be asked for memory <= 8 GB: Slurm is asked"
        with pytest.raises(CigriError, match=told):
            submit(conn, "memory <= 8 GB", clusters=["alpha"])
        [why] = [why for why in list_whys(conn, campaign) if why.cluster == "here"]
    assert (why.code, why.name, why.wanted) == (QueueRejectCode.NOT_SELECTABLE, "memory", "memory >= 16 GB")


def test_nodes_that_change_change_what_is_asked(database: Database) -> None:
    with database.begin() as conn:
        alpha = differing(conn, "alpha", "slurm")
        campaign = submit(conn, "new", clusters=["alpha"])
        put_nodes(conn, alpha, NEW | {"cores": 4}, NEW | {"cores": 8})
    match(database)
    with database.begin() as conn:
        assert conn.scalars(select(SubmitPoolQueue.c.condition)).all() == [None]
        put_nodes(conn, alpha, OLD, NEW | {"cores": 4}, NEW | {"cores": 8})
    match(database)
    with database.begin() as conn:
        assert planned(conn, campaign, alpha, "alpha").requirement == IS_NEW


def test_an_operator_may_make_nodes_selectable(database: Database) -> None:
    about = {"driver": "gridengine", "options": {}}
    with database.begin() as conn:
        gamma = differing(conn, "gamma", "gridengine")
        put_nodes(conn, gamma, {"scratch": 100}, {"scratch": 1000})
        with pytest.raises(CigriError, match=r"scratch is not among the cluster's complexes"):
            submit(conn, "scratch >= 500", clusters=["gamma"])
        put_cluster(conn, "gamma", about | {"options": {"complexes": {"scratch": "<="}}})
        campaign = submit(conn, "scratch >= 500", clusters=["gamma"])
        assert refused(conn, campaign) == {}
        put_cluster(conn, "gamma", about)
    match(database)
    with database.begin() as conn:
        assert refused(conn, campaign) == {"gamma": "not_selectable"}


def test_a_driver_that_is_not_there_is_no_reason(database: Database) -> None:
    """The cluster itself says so."""
    classes = ({"memory": 1}, {"memory": 2})
    queue = QueueView(1, 1, "odd", "odd", "", "", None, classes, "nowhere")
    assert choice_of(parse_requirement("memory >= 2 B", BUILT_IN), queue) is not None


def test_where_another_host_stands_in_nobody_chooses(database: Database) -> None:
    fallback = {"spool": "/var/spool/cigri", "pools": {"cpu": 4}}
    with database.begin() as conn:
        a_cluster(conn, "away", driver="slurm", fallback=fallback, fallback_because="no sbatch")
        [queue] = list_queues(conn)
    assert (queue.driver, queue.options) == ("", "{}")
