"""What the metascheduler reads of campaigns."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from cigri.database import Database
from cigri.flow.campaigns import set_own_priority, set_priority
from cigri.flow.views.cluster_demands import ClusterDemand, list_cluster_demands, list_pending_campaigns
from cigri.flow.views.schedulable_clusters import list_schedulable_clusters
from tests.callers import ALICE
from tests.factories import NOON, a_campaign, a_cluster, end_jobs, run_jobs, set_time, submitted_jobs

pytestmark = pytest.mark.noon

FORECAST = """
INSERT INTO forecasts (campaign_id, cluster_id, at, ratio, remaining, keep, send) VALUES (1, 1, now(), 0.5, 9, 3, 4)
"""


def test_what_is_forecast_to_be_kept_and_sent_is_wanted(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn), a_cluster(conn, "luke")
        a_campaign(conn, 9, clusters=("dahu", "luke"))
        conn.execute(text(FORECAST))
        found = {
            want.cluster_id: (want.ratio, want.keep_waiting, want.send_now)
            for want in list_cluster_demands(conn, 10, 60.0)
        }
    assert found == {1: (0.5, 3, 4), 2: (1.0, None, None)}


def test_a_claim_says_whose_campaign_it_is_and_what_it_wants(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn), a_cluster(conn, "luke")
        a_campaign(conn, 1, clusters=("dahu", "luke"))
        a_campaign(conn, 1, user="bob")
        a_campaign(conn, [], user="carol")
        set_priority(conn, 2, 7)
        set_own_priority(conn, 1, ALICE, 4)
        claims = list_pending_campaigns(conn, list_cluster_demands(conn, 10, 60.0))
    found = [(claim.campaign_id, claim.user, claim.priority, claim.own_priority, claim.clusters) for claim in claims]
    assert found == [(1, "alice", 0, 4, (1, 2)), (2, "bob", 7, 0, (1,))]


def test_waiting_jobs_are_counted_with_their_cores(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        submitted_jobs(conn, a_campaign(conn, 3), cluster, 3)
        conn.execute(text("UPDATE jobs SET width = 4 WHERE id < 3"))
        (room,) = list_schedulable_clusters(conn)
    assert (room.waiting, room.waiting_cores) == (3, 9)


def test_what_is_known_of_a_cluster_and_of_the_campaign_there_is_wanted(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        campaign = a_campaign(conn, 9)
        ids = submitted_jobs(conn, campaign, 1, 4)
        run_jobs(conn, ids)
        end_jobs(conn, 1, ids[:1])
        conn.execute(text(FORECAST))
        conn.execute(text("UPDATE forecasts SET mean = 12"))
        conn.execute(
            text("INSERT INTO cluster_forecasts (cluster_id, at, queue_delay, hazard) VALUES (1, now(), 30, 0.5)")
        )
        later = NOON + timedelta(seconds=300)
        set_time(conn, later)
        (young,), (old,) = (list_cluster_demands(conn, 10, 60.0, scouting=seconds) for seconds in (301.0, 300.0))
    assert (young.successes, young.mean, young.delay, young.hazard) == (1, 12.0, 30.0, 0.5)
    assert old.successes == 4


def test_wants_of_one_kind_differ_in_the_campaign_and_its_tasks_alone(database: Database) -> None:
    with database.begin() as conn:
        here, _ = a_cluster(conn), a_cluster(conn, "luke")
        campaigns = [a_campaign(conn, tasks, clusters=("dahu", "luke")) for tasks in (5, 5, 8, 9)]
        submitted_jobs(conn, campaigns[1], here, 2)
        conn.execute(text("UPDATE campaign_clusters SET max_jobs = 7 WHERE campaign_id = 4 AND cluster_id = 2"))
        wants = list_cluster_demands(conn, 10, 60.0)
    assert [(want.campaign_id, want.cluster_id) for want in wants] == [(id, one) for id in campaigns for one in (1, 2)]
    kinds: dict[int, set[ClusterDemand]] = {}
    for want in wants:
        kinds.setdefault(want.equivalence_group, set()).add(want)
    assert {(want.campaign_id, want.cluster_id) for want in kinds.pop(0)} == {(2, 1)}
    assert sorted([want.campaign_id for want in kind] for kind in map(sorted, kinds.values())) == [
        [1, 2, 3],
        [1, 3, 4],
        [4],
    ]
    for kind in kinds.values():
        assert len({want._replace(campaign_id=0, waiting=0) for want in kind}) == 1
