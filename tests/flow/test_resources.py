"""What is known of queues: each cluster has one, and every change has a version."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.flow.clusters import put_cluster, remove_cluster
from cigri.flow.resource_documents import find_description, mark_changed, put_description
from cigri.flow.views.queues import QueueView, list_queues, resources_version
from cigri.resources.document import read_document
from cigri.resources.inheritance import DeclarationPlace, DeclaredValue
from cigri.states import PropertyLevel
from tests.factories import a_cluster
from tests.waiting import looks

WAITERS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def queues(conn: Connection, project: str = "") -> dict[str, QueueView]:
    """By name@cluster."""
    return {f"{view.queue}@{view.cluster}": view for view in list_queues(conn, project)}


def test_a_cluster_has_a_default_queue_and_is_the_site_of_its_own_name(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn, "dahu")
        a_cluster(conn, "dahu", free=3)
        [view] = list_queues(conn)
    own = {"site": "dahu", "cluster": "dahu", "queue": ""}
    assert view == QueueView(view.queue_id, cluster, "dahu", "dahu", "", "", None, (own,), "local")


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


def test_descriptions_are_put_one_after_the_other(database: Database) -> None:
    """The second looks at what holds only when the first is in force."""
    text = "[properties]\na = 1"
    with database.begin() as conn:
        a_cluster(conn, "dahu")
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as first:
            assert find_description(first).properties == {}
            looking = pool.submit(look, database)
            await_waiter(database)
            put_description(first, read_document(text), text, "root")
        assert looking.result(10) == {"a": DeclaredValue(1)}


def test_changes_at_the_same_time_are_both_counted(database: Database) -> None:
    with database.begin() as conn:
        before = resources_version(conn)
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as first:
            mark_changed(first)
            second = pool.submit(change, database)
            await_waiter(database)
            with database.begin() as reader:
                assert resources_version(reader) == before
        second.result(10)
    with database.begin() as conn:
        assert resources_version(conn) == before + 2


def look(database: Database) -> Mapping[str, DeclaredValue]:
    with database.begin() as conn:
        return find_description(conn).properties[DeclarationPlace(PropertyLevel.GRID, "")]


def change(database: Database) -> None:
    with database.begin() as conn:
        mark_changed(conn)


def await_waiter(database: Database) -> None:
    """Until a session waits for a lock."""
    for _ in looks(what="somebody waits for a lock"):
        with database.begin() as conn:
            if conn.scalar(text(WAITERS)):
                return
