"""Kill -9 of the stager at each line of collecting: a task's outputs have their place when all are there, and once."""

import inspect
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cigri.outputs import assembling
from modules import stager
from modules.stager import collecting, removing
from tests.faults.dying import PARCELS_OF_TEST
from tests.forker import Forker
from tests.grid import CYCLE, Grid
from tests.modules.test_collect import contents, events, on_cluster, submit
from tests.waiting import looks

ROOT = Path(__file__).parents[2]
BIG = 2500  # bytes, of which some are asked for at once
COMMAND = f"echo a >small; mkdir log; yes | head -c {BIG} >log/big; : >empty"
EACH = {"small": "a\n", "log/big": ("y\n" * BIG)[:BIG], "empty": ""}
DIED = {collecting: 45, assembling: 40, removing: 12}


def lines(module: ModuleType) -> list[int]:
    """Of its functions and methods, those on which something happens."""
    return sorted({line for function in functions(module) for _, _, line in function.__code__.co_lines() if line})


def functions(module: ModuleType) -> Iterator[Any]:
    for value in vars(module).values():
        if getattr(value, "__module__", "") == module.__name__:
            yield from filter(inspect.isfunction, vars(value).values() if inspect.isclass(value) else [value])


def run_tasks(grid: Grid, count: int) -> None:
    """Until all are done, and nothing has come."""
    for _ in looks(120):
        for module in CYCLE:
            if module is not stager:
                module.run_once(grid.tools)
        if grid.counts() == {"done": count}:
            return


@pytest.mark.process
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("module", DIED, ids=lambda module: module.__name__.split(".")[-1])
def test_a_stager_killed_at_any_line_leaves_nothing_half(
    module: ModuleType, forker: Forker, local: Grid, tmp_path: Path
) -> None:
    of_interest, place = lines(module), tmp_path / "results"
    count = PARCELS_OF_TEST * (len(of_interest) + 1)
    submit(local, place, count, COMMAND, outputs=["*"])
    run_tasks(local, count)
    url, died = local.database.url.replace("+psycopg", ""), 0
    for line in of_interest:
        arguments = [url, str(line), module.__file__ or ""]
        said = forker.run("tests.faults.dying:collecting_at_line", arguments, os.environ, ROOT)
        assert said.status in (0, -signal.SIGKILL), said
        died += said.status != 0
        whole = {path.name for path in place.iterdir() if path.name[0] != "."} if place.exists() else set()
        assert contents(place) == {f"{number}/{name}": content for number in whole for name, content in EACH.items()}
        assert local.one("SELECT count(*) FROM parcels WHERE collected_at IS NOT NULL") <= len(whole)
    local.run_to_end()
    assert contents(place) == {f"{n}/{name}": content for n in range(count) for name, content in EACH.items()}
    local.run_until(lambda: on_cluster(local) == [])
    assert [path.name for path in (place / ".cigri-1").iterdir()] == ["made"]
    assert events(local, "OUTPUTS_LOST") == []
    local.assert_sane()
    assert died >= DIED[module]
