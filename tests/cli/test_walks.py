"""The walks of docs/commands.md, played on a real cluster of this host on a terminal of 80 columns: they stay true."""

import getpass
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from cigri.cli import gridclusters, gridevents, gridstat, gridsub, watching
from cigri.database import Database
from cigri.flow.almighty_to_operator import Pass, put_pass
from modules import operator
from tests.cli.running import Terminal
from tests.grid import CYCLE, Grid, Site
from tests.localbatch.host import Host

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
WIDTH = 80
MAINS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "gridsub": gridsub.main,
    "gridstat": gridstat.main,
    "gridevents": gridevents.main,
    "gridclusters": gridclusters.main,
    "cigri": operator.main,
}
ESCAPE = re.compile(r"\x1b\[[0-9?]*[A-Za-z]")
VOLATILE = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE"),
    (r"\b\d+(\.\d+)? (d|h|min|s)\b( \d+ (h|min|s)\b)?( ago)?", "DURATION"),
    (r"\b\d+(\.\d+)? jobs/h", "RATE"),
    (r"\b\d+\.\d+\b|\b\d{3,}\b", "NUMBER"),
)
WALKS = re.findall(r"^```console\n(.*?)^```", PAGE.read_text().partition("\n## Walks\n")[2], re.MULTILINE | re.DOTALL)


@pytest.fixture
def here(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grid]:
    """The cluster localhost of four cores; whoever watches it has it work meanwhile."""
    host = Host(tmp_path / "host")
    options = {"spool": str(host.spool), "pools": {"cpu": 4, "mem": 8000}}
    config = {"driver": "local", "directory": str(tmp_path / "files"), "options": options}
    quick = {"poll_interval": 0.0, "record_grace": 0.5, "keep_waiting": 50, "n_max_queued_jobs": 50}
    grid = Grid(database, Site("localhost", {**config, **quick}, getpass.getuser()), str(tmp_path))
    monkeypatch.setattr(watching, "time", SimpleNamespace(sleep=lambda _: grid.cycle()))
    yield grid
    grid.gateway.close()
    host.clear()


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.splitlines()[0].removeprefix("# "))
def test_a_walk_is_as_it_is_told(
    walk: str, here: Grid, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it should be told anew, the failure shows it as it was played."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database_url)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    here.cycle()
    title, told = walk.split("\n", 1)
    played = ""
    for command, answer in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", told, re.MULTILINE):
        played += f"$ {command}\n{_play(command, answer, here, tmp_path)}"
    assert _steady(played) == _steady(told), f"{title}\n{played}"
    assert max(map(len, (told + played).splitlines())) <= WIDTH


def _play(command: str, told: str, here: Grid, directory: Path) -> str:
    """What a person sees; files are written as the page shows them, with this test's directory for ~/scenes."""
    name, *argv = shlex.split(command)
    if name == "cat":
        (directory / argv[0]).write_text(told.replace("~/scenes", str(directory)))
        return told
    if name not in MAINS:
        return subprocess.run(["sh", "-c", command], cwd=directory, capture_output=True, text=True, check=True).stdout
    with here.database.begin() as conn:
        for module in CYCLE:
            put_pass(conn, Pass(module.__name__.rpartition(".")[2], "here", 1, 0.1, {}, ""))
    screen = Terminal()
    with redirect_stdout(screen), redirect_stderr(screen), mock.patch.object(sys, "argv", [name]):
        MAINS[name](argv)
    return ESCAPE.sub("", screen.getvalue().rpartition(watching.CLEAR)[2])


def _steady(text: str) -> list[str]:
    """Words without what differs from one time to the next, and without the widths that follow from it."""
    text = re.sub(rf"\b{getpass.getuser()}\b", "alice", text)
    for volatile, word in VOLATILE:
        text = re.sub(volatile, word, text)
    return [word for word in text.split() if set(word) != {"-"}]
