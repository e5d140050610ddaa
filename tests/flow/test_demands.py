"""What the laboratory takes for wanted."""

from cigri.database import Database
from cigri.flow.views.laboratory import list_demands
from tests.factories import a_campaign, a_cluster, end_jobs, run_jobs, submitted_jobs
from tests.pools.made import submit, two_clusters


def test_tasks_whose_jobs_wait_in_a_queue_are_still_wanted_on_every_cluster(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        a_cluster(conn, "luke")
        campaign = a_campaign(conn, 10, clusters=("dahu", "luke"))
        (demand,) = list_demands(conn)
        assert (demand.user, demand.running, demand.wanted) == ("alice", 0, 10)
        jobs = submitted_jobs(conn, campaign, cluster, 6)
        run_jobs(conn, jobs[:3])
        end_jobs(conn, cluster, jobs[:1])
        (demand,) = list_demands(conn)
        assert (demand.running, demand.wanted) == (2, 4 + 3)
        assert sorted(demand.clusters) == ["dahu", "luke"]


def test_tasks_are_wanted_only_where_they_may_go(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        submit(conn, {"memory": "1 GB"}, tasks=3)
        submit(conn, {"memory": "100 GB"}, tasks=3)
        assert [sorted(demand.clusters) for demand in list_demands(conn)] == [["fat", "thin"], ["fat"]]
