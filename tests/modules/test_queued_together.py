"""What waits on a cluster is limited over all campaigns that ask the batch system for the same."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, text, update

from cigri.database import Database
from cigri.flow.launches import NewJob, put_jobs
from cigri.flow.pending_reasons import list_cuts
from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign
from cigri.flow.tasks import take_waiting
from cigri.flow.views.cluster_demands import list_cluster_demands
from cigri.flow.views.occupancy import WithdrawalRange, list_withdrawable_jobs
from cigri.flow.views.queued_jobs import list_queued, lock_queues
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from cigri.gateway.transport_gateway import TransportGateway
from cigri.runtime.pass_context import PassContext
from cigri.settings.sections import PolicySettings, Settings
from cigri.states import CampaignType, PendingReasonCode
from cigri.tables.campaigns import Bucket
from cigri.tables.jobs import Job
from cigri.tables.tasks import Task
from modules import campaign_schedulers, metascheduler
from modules.metascheduler.fairness_withdrawals import subtract_withdrawn
from tests.factories import NOON, a_cluster, submitted_jobs
from tests.waiting import looks

pytestmark = pytest.mark.noon

PLAIN = {"exec_file": "/bin/true", "walltime": 3600, "type": "best-effort", "resources": {"cpu": 1, "nodes": 1}}
WAITERS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def a_campaign(conn: Connection, tasks: int = 50, user: str = "alice", wanted: Any = None, **settings: object) -> int:
    part = NewCampaignCluster({**PLAIN, **settings}, 1, None, False, False)
    new = NewCampaign("c", user, CampaignType.DEFAULT, "", "workqueue", {}, {"dahu": part}, wanted=wanted)
    return put_campaign(conn, new, ["x"] * tasks)


def tools(database: Database, order: str = "fifo") -> PassContext:
    return PassContext(database, Settings(policy=PolicySettings(scouts=0, order=order)), TransportGateway())


def waiting(conn: Connection) -> dict[int, int]:
    """Jobs by campaign; none of them runs."""
    found = conn.execute(select(Job.c.campaign_id, func.count()).group_by(Job.c.campaign_id))
    return {campaign_id: number for campaign_id, number in found}


def after_passes(database: Database, passes: int = 3, order: str = "fifo") -> dict[int, int]:
    for _ in range(passes):
        metascheduler.run_once(tools(database, order))
        campaign_schedulers.run_once(tools(database, order))
    with database.begin() as conn:
        return waiting(conn)


@pytest.mark.parametrize(
    "other", [{}, {"exec_file": "/bin/false"}, {"user": "bob"}, {"environment": {"A": "1"}}, {"retries": 3}]
)
def test_campaigns_that_ask_for_the_same_share_the_places(database: Database, other: dict[str, Any]) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=0, used=50, keep_waiting=100)
        first, second = a_campaign(conn, 7), a_campaign(conn, **other)
    assert after_passes(database) == {first: 7, second: 3}
    with database.begin() as conn:
        (cut,) = list_cuts(conn, second)
        assert (cut.reason, cut.used, cut.most) == (PendingReasonCode.MAX_QUEUED, 10, 10)


@pytest.mark.parametrize(
    "other",
    [
        {"resources": {"cpu": 1, "nodes": 1, "mem": 100}},
        {"walltime": 60},
        {"type": "normal"},
        {"queue": "long"},
        {"properties": "gpu = 'YES'"},
        {"types": ["besteffort"]},
        {"backend": ["--nice"]},
        {"wanted": "cluster == 'dahu'"},
    ],
)
def test_campaigns_that_ask_for_something_else_do_not(database: Database, other: dict[str, Any]) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=0, used=50, keep_waiting=100)
        first, second = a_campaign(conn), a_campaign(conn, **other)
    assert after_passes(database) == {first: 10, second: 10}


def test_under_fairshare_the_places_are_shared_too(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, free=0, used=50, keep_waiting=100)
        campaigns = [a_campaign(conn, user=user) for user in ("alice", "bob")]
    assert after_passes(database, 1, "fairshare") == dict.fromkeys(campaigns, 5)


def test_jobs_of_a_campaign_that_wants_no_more_count_too(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=0, used=50, keep_waiting=100)
        submitted_jobs(conn, a_campaign(conn, 4), cluster, 4)
        second = a_campaign(conn)
        (room,) = list_schedulable_clusters(conn)
        (want,) = list_cluster_demands(conn, 10, 60.0)
        assert room.queued_by_request == {want.request_hashes[0]: 4}
    assert after_passes(database)[second] == 6


def test_places_that_were_taken_since_they_were_offered_are_not_filled_again(database: Database) -> None:
    """A scheduler may make jobs long after the metascheduler gave room for them."""
    with database.begin() as conn:
        cluster = a_cluster(conn, free=0, used=50, keep_waiting=100)
        first, second = a_campaign(conn), a_campaign(conn)
    metascheduler.run_once(tools(database))
    with database.begin() as conn:
        submitted_jobs(conn, second, cluster, 8)
    campaign_schedulers.run_once(tools(database))
    with database.begin() as conn:
        assert waiting(conn) == {first: 2, second: 8}


def test_two_hosts_at_once_fill_the_places_once(database: Database) -> None:
    """The one has counted and made jobs when the other one, which was offered the same places, wants to count."""
    with database.begin() as conn:
        cluster = a_cluster(conn, free=0, used=50, keep_waiting=100)
        first, second = a_campaign(conn), a_campaign(conn)
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as conn:
            lock_queues(conn)
            assert list_queued(conn) == {}
            put_jobs(conn, second, [NewJob(cluster, 1, 60, [task]) for task in take_waiting(conn, second, 9)])
            metascheduler.run_once(tools(database))
            other = pool.submit(campaign_schedulers.run_once, tools(database))
            for _ in looks(what="the other host waits"):
                if one_of(database, WAITERS):
                    break
        assert other.result()["jobs"] == 1
    with database.begin() as conn:
        assert waiting(conn) == {first: 1, second: 9}


def one_of(database: Database, statement: str) -> int:
    with database.begin() as conn:
        return int(conn.execute(text(statement)).scalar_one())


def test_a_bucket_without_tasks_keeps_nobody_from_a_place(database: Database) -> None:
    """The first campaign has only such tasks left as ask for something else than the second."""
    with database.begin() as conn:
        a_cluster(conn, free=0, used=50, keep_waiting=100)
        first, second = a_campaign(conn), a_campaign(conn)
        conn.execute(text("INSERT INTO buckets (campaign_id, requirements) VALUES (:id, '{\"a\": 1}')"), {"id": first})
        other = select(func.max(Bucket.c.id)).scalar_subquery()
        conn.execute(update(Task).where(Task.c.campaign_id == first).values(bucket_id=other))
    assert after_passes(database, 1) == {first: 10, second: 10}


def test_tasks_that_go_on_where_they_stopped_wait_for_a_place_too(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=0, used=50, keep_waiting=100)
        first, second = a_campaign(conn), a_campaign(conn)
        stopped = {"checkpoint_cluster_id": cluster, "stopped_at": NOON}
        conn.execute(update(Task).where(Task.c.campaign_id == first).values(stopped))
    metascheduler.run_once(tools(database))
    with database.begin() as conn:
        submitted_jobs(conn, second, cluster, 8)
    campaign_schedulers.run_once(tools(database))
    with database.begin() as conn:
        assert waiting(conn) == {first: 2, second: 8}


def test_what_is_taken_back_leaves_its_place(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, free=0, used=50)
        campaign = a_campaign(conn)
        submitted_jobs(conn, campaign, cluster, 9)
        recalled = list_withdrawable_jobs(conn, [WithdrawalRange(campaign, cluster, 2**62)], 5, 4)
        rooms, wants = subtract_withdrawn(
            recalled, list_schedulable_clusters(conn), list_cluster_demands(conn, 10, 60.0)
        )
        assert rooms[0].queued_by_request == {wants[0].request_hashes[0]: 5}
