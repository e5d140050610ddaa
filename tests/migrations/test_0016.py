"""The migration that describes resources, up and down with rows."""

from sqlalchemy import text

from cigri.database import Database, schema
from cigri.flow.views.queues import list_queues
from tests.factories import a_cluster


def test_clusters_of_before_have_their_default_queue(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn, "dahu")
        a_cluster(conn, "luke")
    schema.downgrade(database, "0015")
    with database.begin() as conn:
        assert conn.scalar(text("SELECT count(*) FROM clusters")) == 2
    schema.upgrade(database)
    with database.begin() as conn:
        assert [(view.cluster, view.site, view.queue) for view in list_queues(conn)] == [
            ("dahu", "dahu", ""),
            ("luke", "luke", ""),
        ]
