"""What is known of queues: each cluster has one, and every change has a version."""

from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.flow.operator_to_updator import put_cluster, remove_cluster
from cigri.flow.resources_to_anyone import QueueView, list_queues, resources_version
from tests.factories import a_cluster


def queues(conn: Connection, project: str = "") -> dict[str, QueueView]:
    """By name@cluster."""
    return {f"{view.queue}@{view.cluster}": view for view in list_queues(conn, project)}


def test_a_cluster_has_a_default_queue_and_is_the_site_of_its_own_name(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, "dahu")
        a_cluster(conn, "dahu", free=3)
        [view] = list_queues(conn)
    own = {"site": "dahu", "cluster": "dahu", "queue": ""}
    assert view == QueueView(view.queue_id, cluster, "dahu", "dahu", "", "", None, (own,))


def test_the_version_changes_with_each_cluster(database: Database) -> None:
    with database.begin() as conn:
        versions = [resources_version(conn)]
        put_cluster(conn, "dahu", {"driver": "local"})
        versions.append(resources_version(conn))
        put_cluster(conn, "dahu", {"driver": "slurm"})
        versions.append(resources_version(conn))
        remove_cluster(conn, "dahu")
        versions.append(resources_version(conn))
        assert conn.execute(text("SELECT count(*) FROM queues")).scalar_one() == 0
    assert versions == sorted(set(versions))
    assert len(versions) == 4
