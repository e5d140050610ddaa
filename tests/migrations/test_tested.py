"""The migration that has every cluster tested: what was submitted before goes on, and it goes back, too."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.views.clusters import list_tried
from cigri.flow.views.job_destinations import list_closed
from cigri.states import CampaignType
from tests.pools.made import submit, two_clusters

BUCKETS = "SELECT count(DISTINCT bucket_id), count(*) FROM tasks WHERE campaign_id = 1"


def test_tests_of_before_go_wherever_they_went(database: Database) -> None:
    with database.begin() as conn:
        two_clusters(conn)
        test = submit(conn, None, kind=CampaignType.TEST)
        assert tuple(conn.execute(text(BUCKETS)).one()) == (2, 2)
        assert len(list_closed(conn)[test]) == 2
    schema.downgrade(database, "0027")
    with database.begin() as conn:
        assert tuple(conn.execute(text(BUCKETS)).one()) == (1, 2)
    schema.upgrade(database)
    with database.begin() as conn:
        assert schema.differences(conn) == []
        assert list_closed(conn) == {}
        assert list_tried(conn, test) == []
        new = submit(conn, None, kind=CampaignType.TEST)
        assert [one.cluster for one in list_tried(conn, new)] == ["fat", "thin"]
