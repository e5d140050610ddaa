"""`cigri uninstall` in a home that is thrown away: all goes but results, settings and what others made."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from modules.operator import login_unit
from tests.operator.conftest import OPERATOR, Cigri, Installation, until
from tests.terminals import run_on_terminal

pytestmark = pytest.mark.process

GRIDSUB = "import sys; from cigri.cli.gridsub import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def used(install: Callable[..., Installation]) -> Installation:
    """A grid that has run a campaign, in a directory where somebody has put a file of their own."""
    grid = install()
    assert grid.run_anew("up").status == 0
    grid.submit(2, "echo result")
    until(lambda: grid.one("SELECT count(*) FROM tasks WHERE state = 'done'") == 2)
    (grid.data / "notes.txt").write_text("mine")
    (grid.home / ".config" / "cigri").mkdir(parents=True)
    (grid.home / ".config" / "cigri" / "cigri.toml").write_text("")
    (grid.home / ".cache" / "cigri" / "laboratory").mkdir(parents=True)
    unit = login_unit.unit_path(grid.environment)
    unit.parent.mkdir(parents=True)
    unit.write_text(f'[Service]\nEnvironment="CIGRI_SET_DATA_DIRECTORY={grid.data}"\n')
    return grid


def is_copy(path: Path) -> bool:
    return path.is_file() and "cache" in str(path) and path.read_bytes() == b"input"


def results(grid: Installation) -> list[str]:
    return sorted(path.read_text() for path in (grid.data / "jobs").rglob("*.out"))


def everything(place: Path) -> set[Path]:
    return {path for path in place.rglob("*") if "database" not in path.parts}


def test_it_removes_all_but_results(used: Installation) -> None:
    wrote = results(used)
    assert len(wrote) == 2
    assert all(text.startswith("result") for text in wrote)
    said = used.run_anew("uninstall", "--yes")
    assert said.status == 0, said
    assert f"  {used.data / 'database'}\n" in said.out.partition("Kept are:")[0]
    assert f"  {used.data / 'jobs'}, with " in said.out.partition("Kept are:")[2]
    assert used.processes() == []
    assert sorted(path.name for path in used.data.iterdir()) == ["jobs", "notes.txt"]
    assert results(used) == wrote
    left = sorted(str(path.relative_to(used.home)) for path in everything(used.home / ".config"))
    assert left == [".config/cigri", ".config/cigri/cigri.toml", ".config/systemd", ".config/systemd/user"]
    assert not (used.home / ".cache" / "cigri").exists()
    again = used.run_anew("uninstall", "--yes")
    assert (again.status, "there is no grid in" in again.err) == (1, True)


def test_it_asks_and_does_nothing_unasked(used: Installation) -> None:
    before = everything(used.home / ".config")
    said = used.run_anew("uninstall")
    assert (said.status, "add --yes" in said.err) == (1, True), "there is nobody to ask"
    argv = [sys.executable, *OPERATOR, "uninstall"]
    status, shown = run_on_terminal(argv, used.environment, used.home, typed="n\n")
    assert (status, "Remove all this? [y/N]" in shown, "nothing is removed" in shown) == (1, True, True)
    assert used.almighty() in used.processes()
    assert everything(used.home / ".config") == before
    status, shown = run_on_terminal(argv, used.environment, used.home, typed="y\n")
    assert status == 0, shown
    assert used.processes() == []
    assert not (used.data / "database").exists()


def test_a_link_is_removed_and_not_what_it_leads_to(install: Callable[..., Installation]) -> None:
    grid = install()
    elsewhere = grid.home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    grid.data.mkdir()
    (grid.data / "inputs").symlink_to(elsewhere)
    said = grid.run_anew("uninstall", "--yes")
    assert said.status == 0, said
    assert not grid.data.exists(), "nothing was in it"
    assert (elsewhere / "precious").read_text() == "mine"


@pytest.mark.parametrize("name", ["database", "inputs", "local"])
def test_a_directory_that_others_use_too_is_left_alone(used: Installation, name: str) -> None:
    """As where the data directory is a project's, which has inputs of its own."""
    (used.data / name).mkdir(exist_ok=True)
    (used.data / name / "mesh.msh").write_text("mine")
    (used.data / "portal.html").write_text("mine")
    said = used.run_anew("uninstall", "--yes")
    assert (said.status, f"{used.data / name} holds mesh.msh, which CiGri did not make" in said.err) == (1, True)
    assert used.almighty() in used.processes()
    (used.data / name / "mesh.msh").unlink()
    assert used.run_anew("uninstall", "--yes").status == 0
    assert sorted(path.name for path in used.data.iterdir()) == ["jobs", "notes.txt", "portal.html"]


def test_a_site_is_not_uninstalled(cigri: Cigri, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CIGRI_SET_PORTAL__SOCKET", str(tmp_path / "portal.sock"))
    said = cigri("uninstall", "--yes")
    assert (said.status, "docs/how-to/uninstall.md" in said.err) == (2, True)


def test_it_leaves_clusters_where_asked(used: Installation) -> None:
    """A second cluster, whose daemon is not one that `cigri up` starts by itself, has a job and an input."""
    there = used.home / "there"
    declared = ["--driver", "local", "--option", f"spool={there}/spool", "--set", f"directory={there}/files"]
    assert used.run("cluster", "add", "there", *declared).status == 0
    (used.home / "data.txt").write_text("input")
    campaign = (
        '{"name": "y", "nb_jobs": 1, "clusters": {"there": {}}, "exec_file": "sleep 600", "inputs": ["data.txt"]}'
    )
    (used.home / "campaign.json").write_text(campaign)
    gridsub = [sys.executable, "-P", "-c", GRIDSUB, str(used.home / "campaign.json")]
    status, shown = run_on_terminal(gridsub, used.environment, used.home)
    assert status == 0, shown
    until(lambda: used.one("SELECT count(*) FROM jobs WHERE state = 'running'") == 1)
    assert [path.read_text() for path in there.rglob("*") if is_copy(path)] == ["input"]
    said = used.run_anew("uninstall", "--clusters", "--yes")
    assert said.status == 0, said
    assert "Cluster there, account" in said.out
    assert [path for path in there.rglob("*") if is_copy(path)] == []
    assert used.processes() == []
