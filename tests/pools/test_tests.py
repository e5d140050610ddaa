"""Test campaigns that require something: each of their clusters has its own task, eligible or not."""

from cigri.database import Database
from cigri.flow.newly_eligible_clusters import add_eligible_clusters
from cigri.flow.tasks import take_waiting
from cigri.flow.views.campaigns import list_parts
from cigri.flow.views.job_destinations import list_closed, list_without_queue
from cigri.states import CampaignType
from tests.factories import a_cluster
from tests.pools.made import GB, match, put_nodes, submit, two_clusters

BIG = {"memory": "100 GB"}


def test_a_cluster_that_is_not_eligible_is_told_and_the_others_are_tested(database: Database) -> None:
    with database.begin() as conn:
        fat, thin = two_clusters(conn)
        test = submit(conn, BIG, tasks=5, kind=CampaignType.TEST)
        other = submit(conn, BIG)
        for campaign in (test, other):
            parts = list_parts(conn, [campaign])
            assert {part.cluster: part.is_barred for part in parts} == {"fat": False, "thin": True}
        closed = list_closed(conn)[test]
        buckets = {bucket for bucket, _ in closed}
        assert len(buckets) == 2
        assert {cluster for _, cluster in closed} == {fat, thin}
        assert list_without_queue(conn) == {(test, thin), (other, thin)}
        (task,) = take_waiting(conn, test, 9, {fat: 9, thin: 9}, closed)
        assert (task.bucket_id, fat) not in closed
        put_nodes(conn, thin, {"memory": 192 * GB})
    match(database)
    with database.begin() as conn:
        assert list_without_queue(conn) == set()
        assert len(take_waiting(conn, test, 9, {fat: 9, thin: 9}, list_closed(conn)[test])) == 2


def test_a_test_does_not_get_the_clusters_that_come_later(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        later = a_cluster(conn, "later")
        test = submit(conn, BIG, anywhere=True, kind=CampaignType.TEST)
        other = submit(conn, BIG, anywhere=True)
        put_nodes(conn, later, {"memory": 192 * GB})
    match(database)
    with database.begin() as conn:
        add_eligible_clusters(conn)
        assert [part.cluster for part in list_parts(conn, [other])] == ["fat", "later", "thin"]
        assert [part.cluster for part in list_parts(conn, [test])] == ["fat", "thin"]
