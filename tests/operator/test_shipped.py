"""What is shipped for systemd and cron is obeyed by them, and its commands do what they are there for."""

import configparser
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cigri.lifecycle import CYCLE
from cigri.package_files import directory
from tests.operator.conftest import CIGRI, Installation, until

UNITS = sorted((directory("etc") / "systemd").iterdir())
CRONTAB = directory("etc") / "crontab"
PROGRAM = "/opt/cigri/bin/cigri"


def section(name: str, title: str) -> dict[str, str]:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # configparser's own way to keep capitals
    parser.read(directory("etc") / "systemd" / name)
    return dict(parser[title])


def command(line: str) -> list[str]:
    """The arguments of a shipped command line."""
    program, *argv = shlex.split(line)
    assert program == PROGRAM
    return argv


def cron_lines() -> list[tuple[str, str, list[str]]]:
    """(when, user, arguments) of each job."""
    found = []
    for line in CRONTAB.read_text().splitlines():
        if line.startswith("@") or line[:1] in list("0123456789*"):
            words = line.split(None, 2) if line.startswith("@") else line.split(None, 6)
            found.append((" ".join(words[:-2]), words[-2], command(words[-1])))
    return found


@pytest.mark.process
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing: install systemd")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        text = (
            unit.read_text()
            .replace(PROGRAM, sys.executable)
            .replace("/opt/cigri/bin/python", sys.executable)
            .replace("User=cigri", "User=root")
        )
        (tmp_path / unit.name).write_text(text)
    units = [str(path) for path in tmp_path.iterdir()]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    mine = [line for line in done.stderr.splitlines() if "cigri" in line]
    assert (done.returncode, mine) == (0, [])


def test_the_units_keep_jobs_alive_and_imports_safe() -> None:
    service = section("cigri.service", "Service")
    assert service["KillMode"] == "process"
    assert "Environment=PYTHONSAFEPATH=1" in (directory("etc") / "systemd/cigri.service").read_text()
    assert section("cigri-local.service", "Service")["KillMode"] == "process"
    assert section("cigri-portal.service", "Service")["MemoryMax"] == "3G"
    assert section("cigri-portal.service", "Service")["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert section("cigri-janitor.timer", "Timer")["OnCalendar"]


@pytest.mark.parametrize("unit", ["cigri.service", "cigri-portal.service"])
def test_a_service_is_tried_again_for_ever_and_ends_no_other(unit: str) -> None:
    assert section(unit, "Service")["Restart"] == "on-failure"
    assert section(unit, "Unit")["StartLimitIntervalSec"] == "0"
    bound = {"Wants", "Requires", "Requisite", "BindsTo", "PartOf", "Upholds", "Conflicts"}
    assert not [key for key in section(unit, "Unit").keys() & bound if "cigri" in section(unit, "Unit")[key]]


@pytest.mark.parametrize("unit", [unit.name for unit in UNITS if unit.suffix == ".service"])
def test_what_units_make_is_private(unit: str) -> None:
    service = section(unit, "Service")
    assert service["UMask"] == "0077"
    assert service.get("StateDirectoryMode", "0700") == "0700"
    assert ("StateDirectory" in service) == ("StateDirectoryMode" in service)


def test_the_service_starts_runs_and_stops(install: Callable[..., Installation]) -> None:
    grid = install()
    service = section("cigri.service", "Service")
    assert grid.run(*command(service["ExecStartPre"])).status == 0
    process = subprocess.Popen(
        [*CIGRI, *command(service["ExecStart"])], env=grid.environment, stderr=subprocess.PIPE, text=True
    )
    until(lambda: grid.one("SELECT count(*) FROM modules") == len(CYCLE), what="a cycle")
    assert grid.run("status").status == 0
    assert grid.almighty() == process.pid
    assert grid.run(*command(section("cigri-janitor.service", "Service")["ExecStart"])).status == 0
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    assert "The almighty has ended" in log
    said = grid.run(*command(service["ExecStopPost"]))
    assert said.status == 0, said
    assert grid.processes() == []


def test_the_crontab_runs_every_module(install: Callable[..., Installation]) -> None:
    grid = install()
    lines = cron_lines()
    assert [when for when, _, _ in lines] == ["@reboot", "* * * * *", "17 3 * * *"]
    assert {user for _, user, _ in lines} == {"cigri"}
    for _, _, argv in lines:
        is_silenced = argv[-1] == ">/dev/null"
        said = grid.run(*(argv[:-1] if is_silenced else argv))
        assert (said.status, said.err) == (0, ""), said
        assert is_silenced or not said.out  # or cron would send mail, each minute
    noted = {row[0] for row in grid.query("SELECT name FROM modules")}
    assert noted == {*CYCLE, "janitor"}
    assert grid.run("status").status == 0
