"""How a driver is found: in its own file, or installed beside CiGri."""

import getpass
import importlib
import subprocess
import tomllib
from pathlib import Path

import pytest

from cigri import drivers
from cigri.database import Database
from cigri.drivers import BatchRequest, RemoteJobState, find, load, names
from cigri.errors import ConfigError
from cigri.shell.results import ShellResult
from tests.drivers.conformance import until
from tests.grid import QUICK, Grid, Site

OUTSIDE = Path(__file__).parent / "outside"


def install(place: Path, name: str, drivers: dict[str, str]) -> None:
    """What an installer leaves of a package's entry points."""
    (place / f"{name}-1.0.dist-info").mkdir()
    (place / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{driver} = {module}" for driver, module in drivers.items()]
    text = "\n".join(["[cigri.drivers]", *lines, ""])
    (place / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(text)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample package."""
    project = tomllib.loads((OUTSIDE / "pyproject.toml").read_text())["project"]
    install(tmp_path, "cigri_at_once", project["entry-points"]["cigri.drivers"])
    monkeypatch.syspath_prepend(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_our_own_drivers_are_found_by_their_files() -> None:
    assert {"local", "slurm"} <= set(names())
    with pytest.raises(ConfigError, match=r"no driver 'pbs'; there are: .*local.*slurm"):
        load("pbs", {})


@pytest.mark.process
def test_a_driver_of_another_package_is_found_by_its_entry_point(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "at_once" in names()
    driver, request = load("at_once", {}), BatchRequest("cigri.1", 2, 60)
    (tmp_path / "job").write_text(f"#!/bin/sh\nunset CIGRI_INDEX\n{driver.prelude}exit $((CIGRI_INDEX - 1))\n")
    (tmp_path / "job").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(script: str) -> ShellResult:
        done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        return ShellResult(done.returncode, done.stdout, done.stderr)

    assert driver.parse_submit(run(driver.submit(request)), request) == {1: "cigri.1/1", 2: "cigri.1/2"}
    until(lambda: driver.parse_status(run(driver.status("cigri.")), "cigri.") == [])
    jobs = driver.parse_history(run(driver.history([("cigri.1", 1, ""), ("cigri.1", 2, "")])))
    assert [(job.index, job.state, job.exit_code) for job in jobs] == [
        (1, RemoteJobState.SUCCEEDED, 0),
        (2, RemoteJobState.FAILED, 1),
    ]
    with pytest.raises(ConfigError, match="no options, not even speed"):
        load("at_once", {"speed": 1})


def test_a_real_campaign_runs_through_it(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    """Through the wrapper, on this host: its tasks succeed, fail and are killed as anywhere else."""
    monkeypatch.setattr(importlib.import_module("cigri_at_once"), "PLACE", str(tmp_path / "at-once"))
    config = {"driver": "at_once", "transport": "local", "directory": str(tmp_path / "files"), **QUICK}
    grid = Grid(database, Site("front", config, getpass.getuser()), str(tmp_path / "work"))
    try:
        grid.submit(
            [str(number) for number in range(5)], command='[ "$CIGRI_INDEX" -ge 1 ] && [ -n "$CIGRI_REMOTE_ID" ]'
        )
        grid.submit(["9"], command="echo boom >&2; exit 5")
        grid.submit(["10"], command="sleep 1000")
        grid.run_until(lambda: grid.counts() == {"done": 5, "failed": 1, "assigned": 1} and _begun(grid) == 7)
        grid.kill_all_jobs()
        grid.run_until(lambda: grid.counts() == {"done": 5, "failed": 1, "cancelled": 1})
        assert grid.one("SELECT message FROM events WHERE code = 'TASK_FAILED'") == (
            "failure, exit code 5; stderr ends: boom"
        )
        grid.assert_sane()
    finally:
        grid.gateway.close()


def _begun(grid: Grid) -> int:
    return sum(grid.executions().values())


def test_what_a_driver_needs_and_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "hungry", {"hungry": "hungry_driver"})
    (tmp_path / "hungry_driver.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        load("hungry", {})


def test_a_driver_whose_package_has_lost_its_file_is_a_wrong_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "gone", {"gone": "gone_driver"})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="driver gone is said to be in gone_driver, which is not there"):
        load("gone", {})


def test_a_driver_is_looked_for_until_it_is_found_and_not_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="no driver 'late'"):
        find("late")
    install(tmp_path, "late", {"late": "late_driver"})
    importlib.invalidate_caches()
    assert find("late") == "late_driver"
    monkeypatch.setattr(drivers, "entry_points", None)
    assert find("late") == "late_driver"


def test_two_drivers_of_one_name_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find.cache_clear()
    install(tmp_path, "one", {"local": "one_driver"})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"driver local is in cigri\.drivers\.local and in one_driver"):
        load("local", {})
