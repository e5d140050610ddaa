"""Tasks with amounts of their own come into buckets, and jobs that ask for exactly the same into batches."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from cigri.database import Database
from cigri.errors import CigriError
from cigri.flow import buckets as flow_buckets
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign, put_tasks
from cigri.flow.tasks import take_waiting
from cigri.flow.views.invariants import examine
from cigri.states import CampaignType
from cigri.tables.campaigns import Bucket
from cigri.tables.resources import NodeClass
from cigri.tables.tasks import Task
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster

pytestmark = pytest.mark.noon

SIZED = {"exec_file": "run", "walltime": 60, "resources": {"cpu": 1, "mem": "{} * 10"}}


def sized(conn: Connection, sizes: Sequence[object], *, settings: Mapping[str, Any] = SIZED) -> int:
    part = NewCampaignCluster(settings, 1, None, False, False)
    new = NewCampaign("n", "alice", CampaignType.DEFAULT, "", "workqueue", {"os": "el9"}, {"dahu": part})
    return put_campaign(conn, new, [str(size) for size in sizes])


def buckets(conn: Connection, campaign: int) -> dict[int, list[int]]:
    """The numbers of the tasks in each, by its rounded memory."""
    found: dict[int, list[int]] = {}
    statement = select(Bucket.c.requirements, Task.c.number).join(Task, Task.c.bucket_id == Bucket.c.id)
    for requirements, number in conn.execute(statement.where(Bucket.c.campaign_id == campaign).order_by(Task.c.number)):
        assert requirements["os"] == "el9"
        found.setdefault(requirements["amounts"]["mem"]["{} * 10"], []).append(number)
    return found


@pytest.mark.parametrize("block", [1, 10**9])
def test_tasks_are_sorted_into_buckets_while_they_are_copied(
    database: Database, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(flow_buckets, "COPY_BLOCK", block)
    with database.begin() as conn:
        a_cluster(conn, options={"spool": "/s", "pools": {"mem": 99}})
        campaign = sized(conn, [1, 9, 2, 1, 9.5, 8, 9.7])
        assert buckets(conn, campaign) == {10: [0, 3], 96: [1, 4], 20: [2], 80: [5], 99: [6]}
        assert put_tasks(conn, campaign, ALICE, ["2", "13"]) == 2
        assert buckets(conn, campaign) == {10: [0, 3], 96: [1, 4], 20: [2, 7], 80: [5], 99: [6], 160: [8]}
        assert examine(conn) == []


def test_no_bucket_has_tasks_that_fit_a_node_beside_others_that_do_not(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, options={"spool": "/s", "pools": {"mem": 2000}})
        other = a_cluster(conn, "luke")
        for where, memory in ((cluster, 92 * 2**20), (cluster, 95 * 2**20 + 7), (cluster, 2**30), (other, 93 * 2**20)):
            conn.execute(insert(NodeClass).values(cluster_id=where, nodes=1, properties={"memory": memory}, at=NOON))
        campaign = sized(conn, [9, 9.2, 9.3, 9.5, 9.6])
        assert buckets(conn, campaign) == {92: [0, 1], 95: [2, 3], 96: [4]}


def test_rounding_makes_no_job_impossible_and_what_is_impossible_is_told_by_its_task(database: Database) -> None:
    licensed = {**SIZED, "resources": {"licence": "{} * 1"}}
    with database.begin() as conn:
        cluster = a_cluster(conn)
        conn.execute(insert(NodeClass).values(cluster_id=cluster, nodes=1, properties={"licence": 9}, at=NOON))
        campaign = sized(conn, [9, 3], settings=licensed)
        mine = select(Bucket.c.requirements["amounts"]["licence"]["{} * 1"].as_integer())
        assert set(conn.scalars(mine.where(Bucket.c.campaign_id == campaign))) == {9, 3}
    with database.begin() as conn, pytest.raises(CigriError, match="no queue is eligible for task 1 and those like it"):
        sized(conn, [9, 11, 12], settings=licensed)


def test_clusters_that_a_campaign_may_get_later_count_too(database: Database) -> None:
    later = NewCampaignCluster({**SIZED, "resources": {"mem": "{} * 30"}}, 1, None, False, False)
    with database.begin() as conn:
        a_cluster(conn)
        a_cluster(conn, "luke", options={"spool": "/s", "pools": {"mem": 99}})
        part = NewCampaignCluster(SIZED, 1, None, False, False)
        new = NewCampaign("n", "alice", CampaignType.DEFAULT, "", "workqueue", {}, {"dahu": part})
        campaign = put_campaign(conn, new._replace(anywhere={"luke": later}), ["3", "3.2"])
        mine = select(Bucket.c.requirements).where(Bucket.c.campaign_id == campaign)
        assert conn.scalars(mine).all() == [{"amounts": {"mem": {"{} * 10": 32, "{} * 30": 96}}}]
        assert put_tasks(conn, campaign, ALICE, ["3.3"]) == 1
        assert len(conn.scalars(mine).all()) == 2


def test_a_campaign_has_one_bucket_where_nothing_is_computed(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 5)
        put_tasks(conn, campaign, ALICE, ["a"])
        assert conn.execute(select(Bucket.c.campaign_id, Bucket.c.requirements)).all() == [(campaign, {})]


def test_tasks_come_to_a_campaign_that_had_none(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = sized(conn, [])
        assert put_tasks(conn, campaign, ALICE, ["2", "3", "2"]) == 3
        assert buckets(conn, campaign) == {20: [0, 2], 32: [1]}


def test_a_task_whose_amounts_cannot_be_computed_is_told_by_its_number(
    database: Database,
) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = sized(conn, [1])
    with database.begin() as conn, pytest.raises(CigriError, match=r"task 2: resources\.mem: word 1 is no number: 'x'"):
        sized(conn, [1, 1, "x"])
    with database.begin() as conn:
        with pytest.raises(CigriError, match="task 1: "):
            put_tasks(conn, campaign, ALICE, ["y"])


def test_jobs_of_one_bucket_that_ask_for_different_amounts_are_different_batches(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = sized(conn, [9, 9.5, 9, 9.5, 9])
        assert list(buckets(conn, campaign)) == [96]
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, campaign, 5)])
        launches = list_launches(conn, cluster, 10, 10)
        assert [(launch.amounts, len(launch.jobs)) for launch in launches] == [({"mem": 90}, 3), ({"mem": 95}, 2)]


def test_a_job_of_several_tasks_asks_for_the_most_of_them(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = sized(conn, [9, 9.5, 9.2])
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, take_waiting(conn, campaign, 3))])
        assert [launch.amounts for launch in list_launches(conn, cluster, 10, 10)] == [{"mem": 95}]


def test_all_jobs_travel_together_where_nothing_is_computed(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        campaign = a_campaign(conn, 4)
        put_jobs(conn, campaign, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, campaign, 4)])
        launches = list_launches(conn, cluster, 10, 10)
        assert Counter(len(launch.jobs) for launch in launches) == {4: 1}
        assert launches[0].amounts == {}
