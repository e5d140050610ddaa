"""Collected outputs in the grid's store: each user has so much room, some stays free, and others are not held up."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from cigri.database import Database
from cigri.flow.parcels import put_outputs_wait
from cigri.flow.stored_outputs import count_stored_outputs, list_users_without_room
from modules import janitor
from tests.factories import a_campaign, a_cluster
from tests.grid import Grid
from tests.modules.test_collect import contents, events, on_cluster, submit

NOT_COLLECTED, FULL = "OUTPUTS_NOT_COLLECTED", "STORAGE_FULL"
LARGE_RESULT = "head -c 600000 /dev/zero >result"
PETABYTE = 10**9  # MB
COLLECTS = """
    UPDATE campaign_clusters
    SET settings = '{"collect": {"to": "/x/{number}"}}', uncollected = :n, uncollected_bytes = :awaited,
        stored_bytes = :stored
    WHERE campaign_id = :id
"""


@pytest.fixture
def store(local: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a grid that is not the user's own."""
    monkeypatch.setattr("cigri.outputs.store.may_deliver", lambda _user: False)
    local.tune("outputs", directory=tmp_path / "store")
    local.tune("portal", leave_free=0)
    return tmp_path / "store"


def stored(grid: Grid) -> int:
    with grid.database.begin() as conn:
        return count_stored_outputs(conn, grid.site.user)


def waiting(conn: Connection) -> dict[int, bool]:
    rows = conn.execute(text("SELECT campaign_id, outputs_wait FROM campaign_clusters"))
    return {row.campaign_id: row.outputs_wait for row in rows}


def of_campaign(store: Path) -> set[str]:
    return {name for name in contents(store) if "/." not in name}


def test_what_a_user_may_have_comes_and_the_rest_stays_on_its_cluster(local: Grid, store: Path) -> None:
    local.tune("outputs", of_user=1)
    campaign = submit(local, "/nowhere", 2, LARGE_RESULT, outputs=["result"])
    local.run_until(lambda: events(local, NOT_COLLECTED))
    assert [name.partition("/")[2] for name in of_campaign(store)] == ["0/result"]
    assert stored(local) == 600_000 + 4096
    (event,) = events(local, NOT_COLLECTED)
    assert event["campaign_id"] == campaign
    assert "of task 1 the grid would keep more than 1 MB of" in event["message"]
    assert f"Download them with `gridget {campaign}`. To free space, run `griddel --purge ID`" in event["message"]
    assert local.counts() == {"done": 2}
    local.run_until(lambda: len(on_cluster(local)) == 1)
    local.tune("outputs", of_user=2)
    local.run_to_end()
    assert stored(local) == 2 * (600_000 + 4096)
    assert events(local, NOT_COLLECTED)[0]["closed_by"] == "cigri"
    with local.database.begin() as conn:
        conn.execute(text("UPDATE campaigns SET ended_at = ended_at - interval '31 days'"))
    janitor.run_once(local.tools)
    assert (stored(local), of_campaign(store)) == (0, set())


def test_files_without_content_take_room_too(local: Grid, store: Path) -> None:
    submit(local, "/nowhere", 1, "for n in 1 2 3 4 5 6 7; do : >$n; done", outputs=["*"])
    local.run_to_end()
    assert len(of_campaign(store)) == 7
    assert stored(local) == 7 * 4096


def test_what_is_written_where_its_user_wants_it_takes_none(local: Grid, tmp_path: Path) -> None:
    local.tune("outputs", of_user=1)
    submit(local, tmp_path / "results", 2, LARGE_RESULT, outputs=["result"])
    local.run_to_end()
    assert (len(contents(tmp_path / "results")), stored(local)) == (2, 0)


def test_some_of_the_disk_stays_free_and_operators_are_told(local: Grid, store: Path) -> None:
    local.tune("portal", leave_free=PETABYTE)
    submit(local, "/nowhere", 1)
    local.run_until(lambda: events(local, FULL))
    (event,) = events(local, FULL)
    assert (event["level"], event["campaign_id"], event["closed_by"]) == ("error", None, None)
    assert "(portal.leave_free): outputs stay on their clusters until there is more" in event["message"]
    assert of_campaign(store) == set()
    local.tune("portal", leave_free=0)
    local.run_to_end()
    assert events(local, FULL)[0]["closed_by"] == "cigri"
    assert len(of_campaign(store)) == 3


def test_who_has_no_room_waits_alone(database: Database) -> None:
    with database.begin() as conn:
        a_cluster(conn)
        greedy, modest = (a_campaign(conn, 1, user=user) for user in ("greedy", "modest"))
        conn.execute(text(COLLECTS), {"id": greedy, "n": 3, "awaited": 900, "stored": 99_000})
        conn.execute(text(COLLECTS), {"id": modest, "n": 1, "awaited": 10, "stored": 0})
        assert list_users_without_room(conn, 200_000) == []
        assert list_users_without_room(conn, 100_000) == ["greedy"]
        put_outputs_wait(conn, 500, ["greedy"])
        assert waiting(conn) == {greedy: True, modest: False}
        put_outputs_wait(conn, 500)
        assert waiting(conn) == {greedy: True, modest: True}, "a cluster has too much that is to come"
