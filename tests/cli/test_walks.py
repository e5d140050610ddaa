"""The walks of docs/reference/commands.md and the pages of docs/how-to, played on a real cluster: they stay true."""

import getpass
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from cigri.cli import watching
from cigri.database import Database
from cigri.flow.module_passes import ModulePass, put_pass
from modules import campaign_schedulers
from tests.cli.walking import WIDTH, Walk, blocks
from tests.grid import CYCLE, Grid, Site
from tests.localbatch.host import Host

DOCS = Path(__file__).parents[2] / "docs"
WALKS = blocks((DOCS / "reference" / "commands.md").read_text().partition("\n## Walks\n")[2])
TASKS = [page for page in sorted((DOCS / "how-to").glob("*.md")) if blocks(page.read_text())]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A path as short as a home is: where a long one is folded on a screen would depend on where tests keep files."""
    with TemporaryDirectory(prefix="walk-", dir="/tmp") as directory:
        yield Path(directory)


@pytest.fixture
def here(database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grid]:
    """The cluster localhost of four cores; whoever watches it has it work meanwhile."""
    host = Host(tmp_path / "host")
    options = {"spool": str(host.spool), "pools": {"cpu": 4, "mem": 8000}}
    config = {"driver": "local", "directory": str(tmp_path / "files"), "options": options}
    quick = {"poll_interval": 0.0, "record_grace": 0.5, "keep_waiting": 50, "n_max_queued_jobs": 50}
    grid = Grid(database, Site("localhost", {**config, **quick}, getpass.getuser()), str(tmp_path))
    monkeypatch.setattr(watching, "time", SimpleNamespace(sleep=lambda _: grid.cycle(), monotonic=time.monotonic))
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("CIGRI_SET_DATABASE__URL", database_url)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.chdir(tmp_path)
    added = tmp_path / "cigri" / "modules" / "campaign_schedulers"
    added.mkdir(parents=True)
    campaign_schedulers.__path__.append(str(added))
    grid.cycle()
    yield grid
    campaign_schedulers.__path__.remove(str(added))
    grid.gateway.close()
    host.clear()


def play(told: str, here: Grid, home: str) -> str:
    def all_modules_are_well() -> None:
        with here.database.begin() as conn:
            for module in CYCLE:
                put_pass(conn, ModulePass(module.__name__.rpartition(".")[2], "here", 1, 0.1, {}, ""))

    return Walk(told, Path(here.place), home, all_modules_are_well).play()


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.splitlines()[0].removeprefix("# "))
def test_a_walk_is_as_it_is_told(walk: str, here: Grid) -> None:
    played = play(walk, here, "~/scenes")
    assert max(map(len, (walk + played).splitlines())) <= WIDTH


@pytest.mark.parametrize("page", TASKS, ids=lambda page: page.stem)
def test_a_task_is_done_as_its_page_says(page: Path, here: Grid) -> None:
    play("".join(blocks(page.read_text())), here, "~")
