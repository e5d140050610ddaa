"""Each sentence of RFC 7 about SubmitPools, by its words."""

from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select

from cigri.database import Database
from cigri.eligibility.queues import read_wanted
from cigri.errors import CigriError
from cigri.flow.archive import forget_pools
from cigri.flow.batches import put_batch
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.launches import NewJob, list_launches, put_jobs
from cigri.flow.resource_documents import mark_changed
from cigri.flow.submissions import put_tasks
from cigri.flow.submit_pools import list_pools
from cigri.flow.tasks import take_waiting
from cigri.flow.views.queues import list_queues
from cigri.requirements import digest
from cigri.states import PropertyLevel
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.pools import BucketPool, SubmitPool, SubmitPoolQueue, SubmitPoolReject
from cigri.tables.resources import DeclaredProperty
from modules import janitor
from tests.callers import ALICE
from tests.factories import NOON, a_cluster, end_jobs, launch_jobs, set_time
from tests.pools.made import (
    GB,
    a_queue,
    eligible,
    match,
    pools_of,
    put_nodes,
    refused,
    submit,
    tools,
    two_clusters,
    updates,
)

pytestmark = pytest.mark.noon

LATER = NOON + timedelta(minutes=15, seconds=1)
DAYS = timedelta(days=10)


def test_requirements_are_ordered_and_make_a_unique_hash(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        one = submit(conn, {"cores": 8, "Memory": "4 GB"})
        other = submit(conn, {"memory": "4 GB", "Cores": 8})
        as_text = submit(conn, "cores >= 8 and memory >= 4096 MB")
        more = submit(conn, {"memory": "5 GB", "cores": 8})
        assert pools_of(conn, one) == pools_of(conn, other) == pools_of(conn, as_text)
        assert pools_of(conn, one) != pools_of(conn, more)


def test_requirements_are_stored_in_the_table_of_submit_pools_with_the_hash_as_key(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        submit(conn, {"memory": "4 GB"}), submit(conn, {"memory": "4 GB"})
        [pool] = conn.execute(select(SubmitPool)).all()
    wanted = read_wanted(pool.requirements)
    assert str(wanted.requirement) == "memory >= 4 GB"
    assert wanted.canonical() == pool.requirements
    assert pool.digest == digest(pool.requirements, "")
    assert len(pool.digest) == 64


def test_parameters_valid_for_a_given_vo_are_its_own(database: Database) -> None:
    """The RFC's hash does not know the VO, on whose parameters the queues depend: the key here does."""
    with database.begin() as conn:
        a_cluster(conn, "fat")
        for project, value in (("", False), ("bio", True)):
            about = {"level": PropertyLevel.CLUSTER, "place": "fat", "project": project, "name": "licence"}
            conn.execute(insert(DeclaredProperty).values(about | {"value": value, "extends": False}))
        mark_changed(conn)
        mine = submit(conn, "licence", clusters=["fat"], project="bio")
        with pytest.raises(CigriError, match="no queue is eligible"), conn.begin_nested():
            submit(conn, "licence", clusters=["fat"], project="chemistry")
        a_cluster(conn, "thin")
        put_nodes(conn, 2, {"licence": True})
        other = submit(conn, "licence", project="chemistry")
        assert refused(conn, other) == {"fat": "expression"} or refused(conn, other).keys() == {"fat"}
        pools = conn.execute(select(SubmitPool.c.digest, SubmitPool.c.project).order_by(SubmitPool.c.id)).all()
        assert [project for _, project in pools] == ["bio", "chemistry"]
        assert len({key for key, _ in pools}) == 2
        assert pools_of(conn, mine) != pools_of(conn, other)


def test_eligible_queues_and_sites_are_obtained_for_the_requirements(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        campaign = submit(conn, {"memory": "100 GB"})
        assert refused(conn, campaign) == {"thin": "too_small"}


def test_the_queues_of_a_pool_are_kept_by_site_cluster_and_queue(database: Database) -> None:
    with database.begin() as conn:
        fat, _ = two_clusters(conn)
        night = a_queue(conn, fat, "night")
        [pool] = pools_of(conn, submit(conn, {"memory": "100 GB"}))
        places = {view.queue_id: (view.site, view.cluster, view.queue) for view in list_queues(conn)}
        assert {places[id] for id in eligible(conn, pool)} == {("fat", "fat", ""), ("fat", "fat", "night")}
        rejects = set(conn.scalars(select(SubmitPoolReject.c.queue_id)))
        assert {places[id] for id in rejects} == {("thin", "thin", "")}
        assert night in eligible(conn, pool)


def test_the_list_of_eligible_sites_is_added_to_the_campaign(database: Database) -> None:
    """Where its description leaves the clusters to the grid: also those that become eligible later."""
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        huge = a_cluster(conn, "huge")
        campaign = submit(conn, {"memory": "100 GB"}, clusters=["fat"], anywhere=True)
        fixed = submit(conn, {"memory": "100 GB"}, clusters=["fat"])
        put_nodes(conn, thin, {"memory": 128 * GB, "cores": 8})
        put_nodes(conn, huge, {"memory": 999 * GB, "cores": 8})
        put_nodes(conn, a_cluster(conn, "young"), {"memory": 999 * GB})  # no rule was asked about it
    assert match(database)["clusters found for campaigns"] == 2
    with database.begin() as conn:
        part = CampaignCluster.c
        found = conn.execute(select(part.campaign_id, part.cluster_id).order_by(part.campaign_id, part.cluster_id))
        assert [tuple(row) for row in found] == [(campaign, fat), (campaign, thin), (campaign, huge), (fixed, fat)]
        assert refused(conn, campaign) == {}
        assert len(pools_of(conn, campaign)) == 1
    assert match(database) == {}


def test_a_job_is_given_the_identifier_of_its_pool(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        [pool] = pools_of(conn, submit(conn, {"memory": "4 GB"}, tasks=3))
        columns = (BucketPool.c.bucket_id, BucketPool.c.cluster_id, BucketPool.c.pool_id)
        assert [tuple(row) for row in conn.execute(select(*columns))] == [(1, fat, pool), (1, thin, pool)]


def test_get_submit_pools_for_queue_returns_all_pools_defined_for_it(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        small, large = (pools_of(conn, submit(conn, {"memory": memory}))[0] for memory in ("4 GB", "100 GB"))
        queues = {view.cluster: view.queue_id for view in list_queues(conn)}
        assert [pool.id for pool in list_pools(conn, queues["fat"])] == [small, large]
        assert [pool.id for pool in list_pools(conn, queues["thin"])] == [small]
        assert list_pools(conn, 999) == []


def test_the_mapping_is_refreshed_each_15_minutes(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        submit(conn, {"memory": "100 GB"})
    set_time(database, NOON + timedelta(minutes=15))
    assert match(database) == {}
    set_time(database, LATER)
    assert match(database)["pools computed"] == 1
    assert match(database) == {}


def test_the_pool_has_a_time_stamp_of_its_last_update(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        submit(conn, {"memory": "100 GB"})
        assert updates(conn) == [NOON]
    set_time(database, LATER)
    match(database)
    with database.begin() as conn:
        assert updates(conn) == [LATER]
        stamps = {*conn.scalars(select(SubmitPoolQueue.c.at)), *conn.scalars(select(SubmitPoolReject.c.at))}
        assert stamps == {NOON}, "nothing about its queues has changed since"


def test_resources_that_change_are_seen_at_once_whatever_the_interval(database: Database) -> None:
    """An eligible resource that could not pick up a job can; one that is not eligible any more cannot."""
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        campaign = submit(conn, {"memory": "100 GB"})
        put_nodes(conn, thin, {"memory": 128 * GB, "cores": 8})
        put_nodes(conn, fat, {"memory": 64 * GB, "cores": 8})
    assert match(database) == {"pools computed": 1, "changed queues of pools": 2}
    with database.begin() as conn:
        assert refused(conn, campaign) == {"fat": "too_small"}


def test_a_no_more_eligible_resource_does_not_pick_up_a_job_that_would_fail(database: Database) -> None:
    with database.begin() as conn:
        fat, _ = two_clusters(conn)
        campaign = submit(conn, {"memory": "100 GB"}, tasks=2)
        put_jobs(conn, campaign, [NewJob(fat, 1, 60, take_waiting(conn, campaign, 1))])
        [launch] = list_launches(conn, fat, 9, 9)
        put_nodes(conn, fat, {"memory": 64 * GB, "cores": 8})
    match(database)
    with database.begin() as conn:
        assert put_batch(conn, launch, fat, "key") is None


def _over(database: Database) -> None:
    """One campaign, submitted and ended at noon."""
    with database.begin() as conn:
        two_clusters(conn)
        submit(conn, {"memory": "4 GB"})
        cancel_campaign(conn, 1, ALICE)


def _count(database: Database) -> int:
    with database.begin() as conn:
        return conn.execute(select(func.count()).select_from(SubmitPool)).scalar_one()


def test_a_pool_is_removed_when_no_more_jobs_correspond_to_it(database: Database) -> None:
    _over(database)
    with database.begin() as conn:
        kept = submit(conn, {"memory": "100 GB"})
        set_time(conn, NOON + DAYS)
        assert forget_pools(conn, 1.0) == 1
        assert list(conn.scalars(select(SubmitPool.c.id))) == pools_of(conn, kept)


def test_a_pool_is_not_removed_as_soon_as_its_last_job_is_picked_up(database: Database) -> None:
    with database.begin() as conn:
        fat, _ = two_clusters(conn)
        campaign = submit(conn, {"memory": "4 GB"})
        put_jobs(conn, campaign, [NewJob(fat, 1, 60, take_waiting(conn, campaign, 1))])
        jobs = launch_jobs(conn, fat, 1)
        set_time(conn, NOON + DAYS)
        assert forget_pools(conn, 1.0) == 0
        set_time(conn, NOON)
        end_jobs(conn, fat, jobs)
        set_time(conn, NOON + DAYS)
        cancel_campaign(conn, campaign, ALICE)
        set_time(conn, NOON + DAYS + timedelta(hours=23))
        assert forget_pools(conn, 1.0) == 0, "it was in use until then"
        set_time(conn, NOON + DAYS + timedelta(hours=25))
        assert forget_pools(conn, 1.0) == 1


def test_what_is_rescheduled_after_its_pool_was_removed_gets_it_again(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        campaign = submit(conn, {"memory": "100 GB"}, tasks=0)
        conn.exec_driver_sql("UPDATE campaigns SET state = 'terminated', ended_at = now()")
        set_time(conn, NOON + DAYS)
        assert forget_pools(conn, 1.0) == 1
        assert pools_of(conn, campaign) == []
        put_tasks(conn, campaign, ALICE, ["1"])
        assert len(pools_of(conn, campaign)) == 1
        assert refused(conn, campaign) == {"thin": "too_small"}


def test_pools_are_cleaned_up_by_a_dedicated_agent_running_at_regular_intervals(database: Database) -> None:
    _over(database)
    set_time(database, NOON + timedelta(hours=1))
    assert janitor.run_once(tools(database)).get("removed pools") is None
    assert _count(database) == 1
    set_time(database, NOON + DAYS)
    assert janitor.run_once(tools(database))["removed pools"] == 1
    assert _count(database) == 0
