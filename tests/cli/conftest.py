"""Commands run in this process, as whom the test says, on a database of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from cigri.cli import grid_client as grid_way
from cigri.cli import submitting
from cigri.database import Database
from cigri.flow.clusters import put_cluster
from cigri.identity.callers import SUPERUSER, Caller
from tests.cli.running import Run, running
from tests.conftest import clone_database, made_template
from tests.factories import note_passes
from tests.localbatch.host import Host
from tests.portal.conftest import EnvironmentSettings, Served, serving

HAVE_JUST_RUN = "UPDATE modules SET started_at = now()"

AsUser = Callable[[str], None]
Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def template_at_work(server: Path) -> Iterator[str]:
    """The name of a database of a grid at work."""
    with made_template(server, note_passes) as name:
        yield name


@pytest.fixture
def database_url(request: pytest.FixtureRequest, server: Path, compiled: None) -> Iterator[str]:
    """Of a test of `grid` or `run`: of a copy of a grid at work, whose modules have just run."""
    is_at_work = not {"grid", "run"}.isdisjoint(request.fixturenames)
    yield from clone_database(server, request.getfixturevalue("template_at_work") if is_at_work else "template_cigri")


@pytest.fixture
def grid(database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Database:
    """The database that the commands use too, of a grid at work; no file of the person who tests is read."""
    with database.begin() as conn:
        conn.exec_driver_sql(HAVE_JUST_RUN)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.delenv("CIGRI_CONFIG", raising=False)
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database_url)
    return database


@pytest.fixture
def run(
    request: pytest.FixtureRequest,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """The test file's COMMAND, on a grid at work."""
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(HAVE_JUST_RUN)
    with running(request.module.COMMAND.main, database_url, tmp_path, monkeypatch, capsys) as run:
        yield run


@pytest.fixture
def cluster(database: Database, tmp_path: Path) -> Iterator[Path]:
    """The directory of CiGri on a real cluster of this host, `here`; its daemon is ended by its own pid."""
    host, directory = Host(tmp_path), tmp_path / "files"
    quick = {"poll_interval": 0.0, "record_grace": 0.0}
    config = {"driver": "local", "directory": str(directory), "options": {"spool": str(host.spool)}, **quick}
    with database.begin() as conn:
        put_cluster(conn, "here", config)
    yield directory
    host.clear()


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> AsUser:
    def become(user: str) -> None:
        for program in (grid_way, submitting):
            monkeypatch.setattr(program, "grid_user", lambda: user)

    return become


@pytest.fixture(params=["here", "portal"])
def both_ways(
    request: pytest.FixtureRequest, grid: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The test is played twice: on the database, and through a portal that knows who `as_user` says we are."""
    if request.param == "here":
        yield
        return
    from modules.portal.authentication import Authenticator

    monkeypatch.setattr(Authenticator, "caller", lambda *_: _known(vars(grid_way)["grid_user"]()))
    with serving(grid, EnvironmentSettings(), tmp_path / "portal.sock") as served:
        monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(served.place))
        yield


@pytest.fixture
def portal(grid: Database, tmp_path: Path) -> Iterator[Served]:
    """Of the commands' database."""
    with serving(grid, EnvironmentSettings(), tmp_path / "portal.sock") as served:
        yield served


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Give the commands a standard input."""

    def give(text: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    return give


@pytest.fixture
def program() -> Program:
    """Run an installed command as a process."""

    def run(name: str, *arguments: str, text: str = "") -> "subprocess.CompletedProcess[str]":
        command = [str(Path(sys.executable).with_name(name)), *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=dict(os.environ))

    return run


def _known(user: str) -> Caller:
    return Caller(user, is_operator=user == SUPERUSER)
