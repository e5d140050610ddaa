"""The operator's command: in this process on a fresh database, or for real in a temporary installation."""

import getpass
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from cigri.database import embedded
from cigri.states import CampaignType
from modules.operator.down import ask
from tests.forker import Forker, Said
from tests.waiting import PATIENCE, looks

WORLD = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONWARNINGS": "error"}
WORLD |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}  # of a copy that has a fault
OPERATOR = ["-P", "-m", "modules.operator"]
CIGRI = [sys.executable, *OPERATOR]

Cigri = Callable[..., Said]
EVERYBODY = {"prefix": "", "everybody": True}


def until(fact: Callable[[], object], seconds: float = PATIENCE, what: str = "it") -> None:
    """Wait for a fact."""
    for _ in looks(seconds, what=what):
        if fact():
            return


@pytest.fixture
def cigri(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cigri:
    """The command in this process, on a database of its own."""
    from modules.operator import main

    for name in [name for name in os.environ if name.startswith("CIGRI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database_url)
    monkeypatch.setenv("CIGRI_SET_DATA_DIRECTORY", str(tmp_path / "data"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def call(*argv: str) -> Said:
        capsys.readouterr()
        status = main(list(argv))
        captured = capsys.readouterr()
        return Said(status, captured.out, captured.err)

    return call


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Path]:
    """Of a local batch system with one core."""
    place = tmp_path / "spool"
    yield place
    for line in ask(place, "probe") if place.is_dir() else []:
        for job in ask(place, "list", **EVERYBODY):
            ids = [f"{job['array']}_{index}" for index, _ in job["running"]]
            ask(place, "cancel", ids=ids)
        until(lambda: not ask(place, "list", **EVERYBODY))
        os.kill(line["pid"], signal.SIGTERM)
        until(lambda: not ask(place, "probe"))


class Installation:
    """A data directory of its own, and the command as a real process, forked (see tests.forker) or from its start."""

    def __init__(
        self, home: Path, forker: Forker | None = None, prefix: tuple[str, ...] = (), python: str = sys.executable
    ) -> None:
        self.home, self.data = home, home / "data"
        self._forker = forker
        self.command = [*prefix, python, *OPERATOR]
        self.environment = {**WORLD, "HOME": str(home), "CIGRI_SET_DATA_DIRECTORY": str(self.data)}

    def run(self, *argv: str, more: Mapping[str, str] | None = None) -> Said:
        if self._forker is None:
            return self.run_anew(*argv, more=more)
        return self._forker.run("modules.operator:main", argv, self.environment | dict(more or {}), self.home)

    def run_anew(self, *argv: str, more: Mapping[str, str] | None = None) -> Said:
        environment = self.environment | dict(more or {})
        done = subprocess.run(
            [*self.command, *argv],
            env=environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def query(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(embedded.url(self.data / "database"), autocommit=True) as conn:
            return conn.execute(statement.encode()).fetchall()

    def execute(self, statements: str) -> None:
        with psycopg.connect(embedded.url(self.data / "database"), autocommit=True) as conn:
            conn.execute(statements.encode())

    def one(self, statement: str) -> object:
        [(value,)] = self.query(statement)
        return value

    def almighty(self) -> int:
        return int((self.data / "almighty.pid").read_text().split()[0])

    def submit(self, tasks: int, command: str = "true") -> int:
        """A campaign on localhost, as gridsub stores it."""
        from cigri import jdl
        from cigri.database import Database
        from cigri.flow.submissions import NewCampaign, NewCampaignCluster, put_campaign

        described = f'{{"name": "x", "nb_jobs": {tasks}, "clusters": {{"localhost": {{}}}}, "exec_file": "{command}"}}'
        description = jdl.parse(described, base=self.home, home=self.home)
        parts = {
            name: NewCampaignCluster(part.model_dump(mode="json"), part.resources.width, part.max_jobs, False, False)
            for name, part in description.clusters.items()
        }
        database = Database(embedded.url(self.data / "database"))
        try:
            with database.begin() as conn:
                new = NewCampaign("x", getpass.getuser(), CampaignType.DEFAULT, "", "", {}, parts)
                return put_campaign(conn, new, description.parameters())
        finally:
            database.close()

    def processes(self) -> list[int]:
        """Everything alive that belongs to this installation."""
        mark = f"CIGRI_SET_DATA_DIRECTORY={self.data}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if mark in place.read_bytes().split(b"\0"):
                    found.append(int(place.parent.name))
        return found

    def clear(self) -> None:
        """Stop everything; nothing may be left."""
        said = self.run("down", "--jobs", "kill")
        try:
            until(lambda: not self.processes(), what=f"{said}: everything has ended")
        finally:
            shutil.rmtree(self.home, ignore_errors=True)


@pytest.fixture
def install(tmp_path: Path, forker: Forker) -> Iterator[Callable[..., Installation]]:
    made: list[Installation] = []

    def make(**settings: str) -> Installation:
        home = tmp_path / f"home{len(made)}"
        home.mkdir()
        made.append(Installation(home, forker))
        made[-1].environment |= settings
        return made[-1]

    yield make
    for installation in made:
        installation.clear()


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[Installation]:
    """A grid that runs; a test that stops a part of it starts it again."""
    installation = Installation(tmp_path_factory.mktemp("grid"), forker)
    try:
        said = installation.run_anew("up")
        assert said.status == 0, said
        yield installation
    finally:
        installation.clear()
