"""A disk without room: who sends is told what to do, operators are, and all else goes on."""

import errno
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import select

from cigri.database import Database
from cigri.errors import DatabaseFull, StorageFull
from cigri.inputs.store import InputStore
from cigri.outputs.store import STORAGE_FULL
from cigri.settings.sections import InputSettings, PortalSettings, Settings
from cigri.tables.grid import Event
from modules.portal import uploads
from modules.portal.problem_details import status_of
from modules.portal.settings_in_force import SettingsInForce
from modules.portal.storage_reserve import StorageReserve
from tests.factories import a_cluster
from tests.portal.conftest import Answered, Serve, Served

CAMPAIGN = {"name": "x", "params": ["1"], "clusters": {"dahu": {}}, "exec_file": "true"}
PETABYTE = 10**9  # MB
CONTENT = b"an input"
SUM = sha256(CONTENT).hexdigest()


def serve_with(serve: Serve, data: Path, leave_free: int) -> Served:
    return serve(Settings(portal=PortalSettings(leave_free=leave_free), data_directory=data))


def submit(portal: Served) -> Answered:
    with portal.database.begin() as conn:
        a_cluster(conn, "dahu")
    return portal.request("POST", "/api/v1/campaigns", json.dumps(CAMPAIGN))


def open_events(database: Database) -> list[str]:
    row = Event.c
    with database.begin() as conn:
        return list(conn.scalars(select(row.message).where(row.code == STORAGE_FULL, row.closed_at.is_(None))))


def test_what_would_take_the_reserve_is_refused(serve: Serve, tmp_path: Path) -> None:
    portal = serve_with(serve, tmp_path, PETABYTE)
    told = submit(portal)
    assert (told.status, told.body["type"]) == (507, "/problems/StorageFull")
    assert f"{PETABYTE} MB stay free for the grid itself (portal.leave_free): nothing was taken" in told.body["detail"]
    assert portal.get("/api/v1/campaigns").body == [], "the others are served"
    [message] = open_events(portal.database)
    assert "submissions and inputs are refused until there is more" in message


def test_the_event_is_closed_once_there_is_room(serve: Serve, database: Database, tmp_path: Path) -> None:
    StorageReserve(database, SettingsInForce(Settings(data_directory=tmp_path))).tell("nothing is left")
    assert len(open_events(database)) == 1
    assert submit(serve_with(serve, tmp_path, 0)).status == 201
    assert open_events(database) == []


def test_room_is_looked_at_while_much_arrives(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def require(_reserve: StorageReserve) -> None:
        looks.append(1)
        if len(looks) == 3:
            raise StorageFull("no room any more")

    monkeypatch.setattr(StorageReserve, "require", require)
    monkeypatch.setattr(uploads, "LOOKED_AT_EVERY", 10)
    portal = serve_with(serve, tmp_path, 0)
    told = portal.request("POST", f"/api/v1/inputs/{SUM}?size=1000000", b"x" * 1_000_000)
    assert (told.status, told.body["detail"]) == (507, "no room any more")
    assert len(looks) == 3


@pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 507), (errno.EDQUOT, 507), (errno.EIO, 500)])
def test_a_full_disk_is_told_as_that(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number), "/store/part")

    monkeypatch.setattr(InputStore, "add", fail)
    portal = serve_with(serve, tmp_path, 0)
    told = portal.request("POST", f"/api/v1/inputs/{SUM}?size={len(CONTENT)}", CONTENT)
    assert told.status == status
    assert ("try later: whoever runs this grid is told" in told.body["detail"]) == (status == 507)
    assert len(open_events(portal.database)) == (status == 507)
    assert portal.get("/api/v1/whoami").status == 200


def test_a_full_database_is_no_absent_one() -> None:
    assert status_of(DatabaseFull) == 507


def test_unfinished_inputs_count_even_if_they_are_empty(serve: Serve, tmp_path: Path) -> None:
    portal = serve_with(serve, tmp_path, 0)
    portal.change_settings(inputs=InputSettings(of_user=1))
    sums = [sha256(str(number).encode()).hexdigest() for number in range(260)]
    told = [portal.request("POST", f"/api/v1/inputs/{sum}?size=10", b"") for sum in sums]
    statuses = [one.status for one in told]
    assert statuses == sorted(statuses)
    assert set(statuses) == {200, 507}
    assert "1 MB are kept of each user (inputs.of_user)" in told[-1].body["detail"]
