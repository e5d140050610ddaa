"""The updator looks at the nodes of clusters now and then, and tells what is news; a bad answer harms nothing else."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from cigri.database import Database
from cigri.drivers.local import LocalDriver
from cigri.errors import UnreadableOutput
from cigri.flow.clusters import find_cluster, put_cluster
from cigri.flow.discovered_nodes import list_undiscovered, put_no_nodes, put_nodes
from cigri.flow.views.events import EventFilter, list_events
from cigri.flow.views.queues import list_queues, list_sourced, resources_version
from cigri.resources.nodes import AlikeNodes
from cigri.shell.results import ShellResult
from tests.callers import ROOT
from tests.factories import NOON, a_cluster, set_time
from tests.grid import Grid

THIN, FAT = AlikeNodes({"cores": 32}, 20), AlikeNodes({"cores": 64}, 2)
LATER = NOON + timedelta(minutes=20)


def put(conn: Connection, classes: Sequence[AlikeNodes], name: str = "dahu") -> bool:
    cluster = find_cluster(conn, name)
    assert cluster is not None
    return put_nodes(conn, cluster, classes)


def cores(conn: Connection) -> list[object]:
    return [one["cores"] for view in list_queues(conn) for one in view.classes]


@pytest.mark.noon
def test_what_is_found_on_nodes_is_news_once(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        before = resources_version(conn)
        assert put(conn, [THIN, FAT])
        version = resources_version(conn)
        assert version > before
        assert not put(conn, [FAT, THIN])
        assert not put(conn, [FAT, THIN._replace(nodes=19)])  # how many they are says nothing of what may run there
        assert resources_version(conn) == version
        assert [some.nodes for some in list_sourced(conn)[0].classes] == [2, 19]
        assert cores(conn) == [64, 32]
        assert put(conn, [FAT])
        assert resources_version(conn) > version
        assert put(conn, [])
        assert [dict(one) for one in list_queues(conn)[0].classes] == [{"site": "dahu", "cluster": "dahu", "queue": ""}]


@pytest.mark.noon
def test_nodes_of_a_queue_are_only_its_own(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put(conn, [THIN._replace(queue=""), FAT._replace(queue="fat")])
        assert cores(conn) == [32]
        put(conn, [THIN._replace(queue=""), FAT])
        assert cores(conn) == [64, 32]


@pytest.mark.noon
def test_a_cluster_is_looked_at_when_it_is_new_or_changed_and_after_a_while(database: Database) -> None:
    with database.begin() as conn:
        cluster = a_cluster(conn)
        assert list_undiscovered(conn, 900.0) == {cluster}
        put(conn, [THIN])
        set_time(conn, NOON + timedelta(seconds=899))
        assert list_undiscovered(conn, 900.0) == set()
        set_time(conn, NOON + timedelta(seconds=900))
        assert list_undiscovered(conn, 900.0) == {cluster}
        put_cluster(conn, "dahu", {"driver": "local"})
        set_time(conn, NOON)
        assert list_undiscovered(conn, 900.0) == {cluster}


@pytest.mark.noon
def test_an_answer_that_makes_no_sense_is_told_and_what_was_known_holds_on(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        put(conn, [THIN])
        cluster, version = find_cluster(conn, "dahu"), resources_version(conn)
        assert cluster is not None
        put_no_nodes(conn, cluster, "sinfo: no answer at all")
        assert cores(conn) == [32]
        assert resources_version(conn) == version
        assert list_undiscovered(conn, 900.0) == set()
        [event] = list_events(conn, EventFilter(ROOT, is_global=True))
        assert (event.code, event.subject) == ("NODES_UNREADABLE", "cluster dahu")
        put(conn, [THIN])
        assert list_events(conn, EventFilter(ROOT, is_global=True)) == []


def test_a_visit_finds_the_pools_of_this_host(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    local.cycle()
    with local.database.begin() as conn:
        [view] = list_queues(conn)
        [found] = view.classes
        assert found["cores"] == local.one("SELECT total FROM cluster_states")
        version = resources_version(conn)
    commands = local.gateway.commands[local.site.name]
    local.cycle()
    assert local.gateway.commands[local.site.name] == commands + 1  # the visit alone

    def unreadable(_driver: LocalDriver, answer: ShellResult) -> list[AlikeNodes]:
        raise UnreadableOutput(answer.out)

    monkeypatch.setattr(LocalDriver, "parse_nodes", unreadable)
    local.tune("resources", discovery=1e-6)
    local.cycle()
    assert local.one("SELECT failures FROM clusters") == 0
    assert local.one("SELECT problem <> '' FROM discoveries")
    with local.database.begin() as conn:
        assert resources_version(conn) == version
        assert list_queues(conn)[0].classes == (found,)


def test_a_driver_that_cannot_tell_of_nodes_is_not_asked(local: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalDriver, "nodes", lambda _driver: "")
    local.cycle()
    assert local.gateway.commands[local.site.name] == 1
    assert local.one("SELECT count(*) FROM discoveries WHERE problem = ''") == 1
