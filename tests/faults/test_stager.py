"""Kill -9 of the stager at each of its lines: what is on a cluster of an input is whole, or has not its name."""

import inspect
import os
import signal
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

from modules import stager
from modules.stager import sending
from tests.forker import Forker
from tests.grid import Grid
from tests.modules.test_stager import keep, lacking
from tests.waiting import looks

ROOT = Path(__file__).parents[2]
PIECES = 3


def lines(module: ModuleType) -> Iterator[int]:
    """Of its functions, those on which something happens."""
    for _, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__:
            yield from sorted({line for _, _, line in function.__code__.co_lines() if line is not None})


def a_file(grid: Grid, place: Path, name: str) -> str:
    """A campaign that lacks it; its sum."""
    content = os.urandom(PIECES * 1000 - 1)
    (place / name).write_bytes(content)
    grid.submit(["1"], inputs=keep(grid, name, base=place), walltime=60)
    return sha256(content).hexdigest()


@pytest.mark.process
@pytest.mark.parametrize(("module", "deaths"), [(stager, 25), (sending, 60)])
def test_a_stager_killed_at_any_line_leaves_nothing_half(
    module: ModuleType, deaths: int, forker: Forker, local: Grid, tmp_path: Path
) -> None:
    local.tune("inputs", directory=tmp_path / "store")
    cache = Path(local.site.config["directory"]) / local.one("SELECT key FROM grid") / "cache"
    url = local.database.url.replace("+psycopg", "")
    died = 0
    for line in lines(module):
        sum = a_file(local, tmp_path, f"input-{line}")
        said = forker.run(
            "tests.faults.dying:at_line", [url, module.__name__, str(line), str(tmp_path / "store")], os.environ, ROOT
        )
        assert said.status in (0, -signal.SIGKILL), said
        died += said.status != 0
        assert not (cache / sum).exists() or sha256((cache / sum).read_bytes()).hexdigest() == sum
        for _ in looks():
            if lacking(local) == 0:
                break
            stager.run_once(local.tools)
        assert sha256((cache / sum).read_bytes()).hexdigest() == sum
        assert not [*cache.glob("*.part")]
    assert died > deaths
