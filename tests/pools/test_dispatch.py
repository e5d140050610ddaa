"""Offers, jobs and batches go to eligible queues only, and it is looked at again where a batch is committed."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select, text

from cigri.database import Database
from cigri.eligibility.pools import judge_pools
from cigri.flow.batches import PreparedBatch, put_batch
from cigri.flow.clusters import find_cluster
from cigri.flow.launches import LaunchGroup, NewJob, list_launches, put_jobs
from cigri.flow.offers import NewOffer, put_offers
from cigri.flow.prologues_and_epilogues import put_prologues
from cigri.flow.submit_pools import put_judged, take_stale
from cigri.flow.tasks import take_continuing, take_waiting
from cigri.flow.views.job_destinations import JobDestination, find_destination, list_closed, list_without_queue
from cigri.flow.views.queues import see_queues
from cigri.flow.withdrawals import put_back_unlaunched
from cigri.settings.sections import JobSettings
from cigri.tables.campaigns import Bucket
from cigri.tables.jobs import Job
from cigri.tables.sharing import Offer as OfferRow
from modules import campaign_schedulers, metascheduler
from modules.runner.batch_spec import plan_batch
from tests.factories import NOON, a_campaign, a_cluster, set_time
from tests.pools.made import GB, a_queue, match, put_nodes, split, submit, tools, two_clusters
from tests.waiting import looks

pytestmark = pytest.mark.noon

LARGE = {"memory": "100 GB"}


def offered(database: Database) -> set[tuple[int, int]]:
    metascheduler.run_once(tools(database))
    with database.begin() as conn:
        return {(row[0], row[1]) for row in conn.execute(select(OfferRow.c.campaign_id, OfferRow.c.cluster_id))}


def jobs(conn: Connection) -> list[tuple[int | None, int]]:
    """Bucket and cluster of each."""
    return [(row[0], row[1]) for row in conn.execute(select(Job.c.bucket_id, Job.c.cluster_id).order_by(Job.c.id))]


def test_only_clusters_with_an_eligible_queue_are_offered(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        small, large = submit(conn, {"memory": "1 GB"}, tasks=30), submit(conn, LARGE, tasks=30)
    found = offered(database)
    assert {cluster for campaign, cluster in found if campaign == large} <= {fat}
    assert (small, thin) in found
    with database.begin() as conn:
        assert list_without_queue(conn) == {(large, thin)}
        put_nodes(conn, thin, {"memory": 128 * GB})
    match(database)
    with database.begin() as conn:
        assert list_without_queue(conn) == set()


def test_a_campaign_that_requires_nothing_is_offered_what_nothing_is_known_of(database: Database) -> None:
    with database.begin() as conn:
        one, other = a_cluster(conn, "one"), a_cluster(conn, "other")
        campaign = a_campaign(conn, 50, clusters=("one", "other"))
    assert offered(database) == {(campaign, one), (campaign, other)}
    with database.begin() as conn:
        assert list_closed(conn) == {}
        assert find_destination(conn, campaign, 1, one) == JobDestination("", {})


def test_a_bucket_of_before_has_no_pool_and_goes_anywhere(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        campaign = submit(conn, LARGE, tasks=50)
        conn.execute(text("DELETE FROM bucket_pools"))
        assert find_destination(conn, campaign, 1, thin) == JobDestination("", {})
    assert offered(database) == {(campaign, fat), (campaign, thin)}


def test_a_cluster_is_barred_when_no_bucket_that_waits_may_go_there(database: Database) -> None:
    with database.begin() as conn:
        _, thin = two_clusters(conn)
        small, mixed = submit(conn, {"memory": "1 GB"}), submit(conn, LARGE, tasks=3)
        bucket = split(conn, mixed, [2], small)
        assert list_without_queue(conn) == set()
        conn.execute(text("UPDATE tasks SET state = 'done' WHERE bucket_id = :bucket"), {"bucket": bucket})
        assert list_without_queue(conn) == {(mixed, thin)}
        conn.execute(text("UPDATE tasks SET state = 'done' WHERE campaign_id = :one"), {"one": mixed})
        assert list_without_queue(conn) == set(), "its last tasks may have second attempts"
        conn.execute(text("UPDATE tasks SET state = 'waiting' WHERE campaign_id = :one"), {"one": mixed})
        stop = "UPDATE tasks SET checkpoint_cluster_id = 1, stopped_at = now() WHERE bucket_id = :bucket"
        conn.execute(text(stop), {"bucket": bucket})
        assert list_without_queue(conn) == set(), "a task that is to be continued waits, too"


def test_each_job_carries_tasks_of_one_bucket_and_goes_where_that_may_go(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        small, mixed = submit(conn, {"memory": "1 GB"}), submit(conn, LARGE, tasks=8)
        [large] = conn.scalars(select(Bucket.c.id).where(Bucket.c.campaign_id == mixed))
        bucket = split(conn, mixed, [4, 5, 6, 7], small)
        put_offers(conn, [NewOffer(mixed, thin, 9, 9, 0), NewOffer(mixed, fat, 3, 3, 1)])
    campaign_schedulers.run_once(tools(database))
    with database.begin() as conn:
        assert sorted(jobs(conn)) == [(large, fat)] * 3 + [(bucket, thin)] * 4


def test_tasks_that_may_go_anywhere_leave_room_for_those_that_may_not(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        large, mixed = submit(conn, LARGE), submit(conn, {"memory": "1 GB"}, tasks=4)
        [small] = conn.scalars(select(Bucket.c.id).where(Bucket.c.campaign_id == mixed))
        bucket = split(conn, mixed, [2, 3], large)
        put_offers(conn, [NewOffer(mixed, fat, 2, 2, 0), NewOffer(mixed, thin, 2, 2, 1)])
    campaign_schedulers.run_once(tools(database))
    with database.begin() as conn:
        assert sorted(jobs(conn)) == [(small, thin)] * 2 + [(bucket, fat)] * 2


def test_a_task_is_not_continued_where_it_may_not_go_any_more(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        campaign = submit(conn, {"memory": "10 GB"}, tasks=1)
        stop = "UPDATE tasks SET checkpoint_cluster_id = :thin, stopped_at = :at"
        conn.execute(text(stop), {"thin": thin, "at": NOON})
        mine, _ = take_continuing(conn, campaign, {fat: 1, thin: 1}, 60.0)
        assert [len(mine[one]) for one in (fat, thin)] == [0, 1]
        put_nodes(conn, thin, {"memory": 1 * GB})
    match(database)
    with database.begin() as conn:
        mine, others = take_continuing(conn, campaign, {fat: 1, thin: 1}, 60.0)
        assert (mine[thin], others) == ([], [])
        set_time(conn, NOON + timedelta(seconds=61))
        _, others = take_continuing(conn, campaign, {fat: 1, thin: 1}, 60.0)
        assert len(others) == 1


def test_no_prologue_runs_where_no_task_may_go(database: Database) -> None:
    with database.begin() as conn:
        fat, _ = two_clusters(conn)
        submit(conn, LARGE)
        conn.execute(text("UPDATE campaign_clusters SET prologue = 'waiting'"))
        assert put_prologues(conn, shut=list_without_queue(conn)) == 1
        assert jobs(conn) == [(None, fat)]


def launched(conn: Connection) -> tuple[LaunchGroup, int]:
    """A job to launch on fat, of a new campaign that wants large nodes."""
    fat, _ = two_clusters(conn)
    campaign = submit(conn, LARGE, tasks=2)
    put_jobs(conn, campaign, [NewJob(fat, 1, 60, take_waiting(conn, campaign, 1))])
    [launch] = list_launches(conn, fat, 9, 9)
    return launch, fat


def test_eligibility_is_checked_again_in_the_transaction_that_dispatches(database: Database) -> None:
    with database.begin() as conn:
        launch, fat = launched(conn)
        put_nodes(conn, fat, {"memory": 64 * GB})
    match(database)
    with database.begin() as conn:
        assert put_batch(conn, launch, fat, "key") is None
        assert conn.scalar(text("SELECT count(*) FROM batches")) == 0
        assert put_back_unlaunched(conn, JobSettings()) == 1
        assert conn.scalar(text("SELECT count(*) FROM tasks WHERE state = 'waiting' AND deaths = 0")) == 2


def test_a_pool_that_is_being_dispatched_is_matched_in_the_next_pass(database: Database) -> None:
    with database.begin() as conn:
        launch, fat = launched(conn)
        put_nodes(conn, fat, {"memory": 64 * GB})
    with database.begin() as conn:
        assert put_batch(conn, launch, fat, "key") is not None
        assert match(database) == {}
    assert match(database) == {"pools computed": 1, "changed queues of pools": 1}


def test_who_dispatches_waits_for_who_matches(database: Database) -> None:
    with database.begin() as conn:
        launch, fat = launched(conn)
        put_nodes(conn, fat, {"memory": 64 * GB})
    batches: list[PreparedBatch | None] = []

    def dispatch() -> None:
        with database.begin() as conn:
            batches.append(put_batch(conn, launch, fat, "key"))

    runner = threading.Thread(target=dispatch)
    with database.begin() as conn:
        pools, seen = [stale.pool for stale in take_stale(conn, 900.0, 9)], see_queues(conn, [""])
        assert put_judged(conn, judge_pools(pools, seen.queues, seen.kinds), seen.version) == 1
        runner.start()
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as other:
            for _ in looks():
                if other.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                    break
        assert batches == []
    runner.join()
    assert batches == [None]


@pytest.mark.parametrize(
    ("queue", "eligible", "expected"),
    [
        ("", ("default", "big", "long"), ""),
        ("", ("big", "long"), "q_big"),
        ("", ("long",), "q_long"),
        ("long", ("default", "big", "long"), "q_long"),
        ("q_long", ("default", "big", "long"), "q_long"),
        ("unheard", ("default",), "unheard"),
    ],
)
def test_a_batch_goes_to_its_queue_or_else_the_first_eligible_one(
    database: Database, queue: str, eligible: tuple[str, ...], expected: str
) -> None:
    """By the name that the batch system knows."""
    with database.begin() as conn:
        fat = a_cluster(conn, "fat")
        for name in ("big", "long"):
            a_queue(conn, fat, name)
        for name in ("default", "big", "long"):
            memory = (192 if name in eligible else 1) * GB
            put_nodes(conn, fat, {"memory": memory}, queue="" if name == "default" else f"q_{name}")
        campaign = submit(conn, LARGE, clusters=["fat"], queue=queue)
        put_jobs(conn, campaign, [NewJob(fat, 1, 60, take_waiting(conn, campaign, 1))])
        [launch] = list_launches(conn, fat, 9, 9)
        batch = put_batch(conn, launch, fat, "key")
        assert batch is not None
        cluster = find_cluster(conn, "fat")
        assert cluster is not None
        _, request = plan_batch(cluster, "key", launch, batch)
    assert request.queue == expected
    assert request.requirement is None, "its nodes do not differ in it"


def test_a_prologue_goes_where_the_tasks_will_go(database: Database) -> None:
    with database.begin() as conn:
        fat = a_cluster(conn, "fat")
        a_queue(conn, fat, "big")
        put_nodes(conn, fat, {"memory": GB}, queue="")
        put_nodes(conn, fat, {"memory": 192 * GB}, queue="q_big")
        campaign = submit(conn, LARGE, clusters=["fat"])
        destination = find_destination(conn, campaign, None, fat)
        assert destination is not None
        assert destination.queue == "q_big"
        put_nodes(conn, fat, {"memory": GB}, queue="q_big")
    match(database)
    with database.begin() as conn:
        assert find_destination(conn, campaign, None, fat) == JobDestination("", {}), "an epilogue ends what was begun"
        assert find_destination(conn, campaign, 1, fat) is None
