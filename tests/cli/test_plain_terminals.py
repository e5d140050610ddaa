"""Whoever sets NO_COLOR, or has a dumb terminal, gets no escape sequence from any command."""

import os
import sys
import tomllib
from pathlib import Path

import pytest

from cigri.database import Database
from cigri.drivers import Capacity
from cigri.flow.campaigns import cancel_campaign
from cigri.flow.cluster_states import put_cluster_state
from modules.operator import COMMANDS
from tests.callers import ALICE
from tests.cli.at_work import run_campaign
from tests.factories import a_campaign, a_cluster
from tests.terminals import run_on_terminal

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PLAIN = ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"})
LOOKS = (
    "gridstat",
    "gridstat -s",
    "gridstat 1",
    "gridstat -f 1",
    "gridstat --watch 1 2",
    "gridclusters",
    "gridclusters -b",
    "gridclusters -i",
    "gridevents",
    "gridusage",
    "gridnotify",
    "gridtoken",
    "gridget 1",
    "cigri status",
    "cigri doctor",
    "cigri config",
)
DRAWN = ("gridclusters -b", "gridstat --watch 1 2")
"""Commands that draw where they may."""
ESCAPE = "\x1b"


def shown(command: str, place: Path, more: dict[str, str]) -> str:
    environment = {
        **os.environ,
        "CIGRI_SET_DATA_DIRECTORY": str(place / "data"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        **more,
    }
    return run_on_terminal(["sh", "-c", command], environment, place)[1]


@pytest.fixture
def looked_at(grid: Database, cluster: Path) -> None:
    """A grid with a campaign that has run on a cluster, and one that was cancelled."""
    run_campaign(grid, "echo out", 2)
    with grid.begin() as conn:
        put_cluster_state(conn, a_cluster(conn), Capacity(16, 8, 6, 2), 4)
        cancel_campaign(conn, a_campaign(conn, 2), ALICE)


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize("plain", PLAIN, ids=["dumb", "no colour"])
def test_no_command_draws_where_it_may_not(plain: dict[str, str], tmp_path: Path) -> None:
    programs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    commands = [*LOOKS, *(f"{name} --help" for name in programs)]
    assert {command.split()[0] for command in commands} == set(programs)
    said = shown("; ".join(f"echo; echo '$ {command}'; {command}" for command in commands), tmp_path, plain)
    assert [line for line in said.splitlines() if ESCAPE in line] == []
    assert "100%" in said, "the watch tells in lines"
    assert "F" * 10 in said, "bars are letters"


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize("command", DRAWN)
def test_on_other_terminals_it_draws(command: str, tmp_path: Path) -> None:
    assert ESCAPE in shown(command, tmp_path, {"TERM": "xterm"})


def test_no_help_of_the_operator_draws(tmp_path: Path) -> None:
    """These start quickly together, and none of them needs a grid."""
    said = shown("; ".join(f"cigri {word} --help" for word in COMMANDS), tmp_path, PLAIN[0])
    assert ESCAPE not in said
    assert said.count("usage: cigri") >= len(COMMANDS)
