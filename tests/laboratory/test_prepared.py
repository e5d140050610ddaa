"""The server for the runs of --simulate is made once, and copied from then on."""

import shutil
from pathlib import Path

import pytest

from cigri import package_files
from cigri.database import Database, embedded, schema
from modules.laboratory.whatif import prepared_database
from modules.laboratory.whatif.prepared_database import server

pytestmark = pytest.mark.process


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "cigri" / "laboratory"


def is_ready(directory: Path) -> bool:
    database = Database(embedded.copy(directory, "run"))
    try:
        with database.begin() as conn:
            return schema.current(conn) == schema.newest()
    finally:
        database.close()


def test_it_is_made_once_in_the_place_of_older_ones(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "older" / "data").mkdir(parents=True)
    with server() as directory:
        assert is_ready(directory)
    [kept] = cache.iterdir()
    assert not directory.exists()
    monkeypatch.setattr(embedded, "_create", None)  # nothing makes another
    monkeypatch.setattr(schema, "upgrade", None)
    with server() as directory:
        assert is_ready(directory)
    assert [*cache.iterdir()] == [kept]


def test_without_a_place_to_keep_it_it_is_made_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with server() as directory:
        assert is_ready(directory)


@pytest.mark.parametrize("name", ["versions/0075_create_the_schema.py", "schema/grid.sql"])
def test_another_schema_is_another_version(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrations = tmp_path / "migrations"
    shutil.copytree(package_files.directory("migrations"), migrations)
    monkeypatch.setattr(package_files, "directory", lambda name: tmp_path / name)
    before = prepared_database._version()
    with (migrations / name).open("a") as file:
        file.write("\n")
    assert prepared_database._version() != before
