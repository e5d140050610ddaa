"""`cigri up --at-login`: a unit of the user's systemd that starts this grid again."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from modules.operator import login_unit, up
from tests.operator.conftest import WORLD, Cigri, Installation

RECORDING = '#!/bin/sh\necho "$(basename "$0") $*" >>"{calls}"\nexit {status}\n'
ASKED = ["systemctl --user daemon-reload", "systemctl --user start cigri.service", "loginctl enable-linger"]


@pytest.fixture
def calls(cigri: Cigri, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is asked of systemd, which says yes; the grid itself is not started."""
    calls, programs = tmp_path / "calls", tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(login_unit, "BOOTED", tmp_path)
    monkeypatch.setattr(up, "_bring_up", lambda settings, no_almighty: None)
    answer(programs, calls, 0)
    return calls


def answer(programs: Path, calls: Path, status: int) -> None:
    for name in ("systemctl", "loginctl"):
        (programs / name).write_text(RECORDING.format(calls=calls, status=status))
        (programs / name).chmod(0o755)


def test_the_unit_is_written_and_enabled(cigri: Cigri, calls: Path, tmp_path: Path) -> None:
    said = cigri("up", "--at-login")
    unit = tmp_path / ".config/systemd/user/cigri.service"
    assert (said.status, said.err) == (0, "")
    assert f"The unit {unit} starts this grid when you log in\n" in said.out
    assert "before you log in\n" in said.out
    assert calls.read_text().splitlines() == ASKED
    assert (unit.parent / "default.target.wants" / "cigri.service").resolve() == unit
    assert unit.stat().st_mode & 0o777 == 0o600, "it may hold the address of a database, with a password"
    assert cigri("up", "--at-login").status == 0, "it is safe to repeat"


def test_without_lingering_it_is_said_who_helps(cigri: Cigri, calls: Path, tmp_path: Path) -> None:
    answer(tmp_path / "bin", calls, 1)
    said = cigri("up", "--at-login")
    assert (said.status, "ask an administrator for `loginctl enable-linger`" in said.out) == (0, True)


def test_where_no_systemd_runs_cron_is_named(
    cigri: Cigri, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_unit, "BOOTED", tmp_path / "none")
    said = cigri("up", "--at-login")
    assert (said.status, "@reboot" in said.err) == (1, True)
    assert not (tmp_path / ".config").exists()


def test_the_unit_of_another_grid_is_kept(
    cigri: Cigri, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cigri("up", "--at-login").status == 0
    unit = tmp_path / ".config/systemd/user/cigri.service"
    before = unit.read_text()
    monkeypatch.setenv("CIGRI_SET_DATA_DIRECTORY", str(tmp_path / "other"))
    said = cigri("up", "--at-login")
    assert (said.status, "starts another grid" in said.err) == (1, True)
    assert unit.read_text() == before


def test_it_starts_all_of_the_grid_or_nothing(cigri: Cigri) -> None:
    assert cigri("up", "--at-login", "--no-almighty").status == 2


@pytest.mark.process
def test_systemd_finds_nothing_wrong_with_it(
    cigri: Cigri, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGRI_SET_DATA_DIRECTORY", str(tmp_path / 'a "b" 100%\\ é'))
    assert cigri("up", "--at-login").status == 0
    unit = tmp_path / ".config/systemd/user/cigri.service"
    runtime = tmp_path / "runtime"
    runtime.mkdir(0o700)
    verify = ["systemd-analyze", "--user", "verify", str(unit)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    done = subprocess.run(verify, env=environment, capture_output=True, text=True, check=False)
    about_it = [line for line in (done.stdout + done.stderr).splitlines() if unit.name in line]
    assert (done.returncode, about_it) == (0, []), "other units of this host are not ours to judge"


@pytest.mark.process
def test_its_commands_start_and_stop_a_grid_in_its_environment_alone(install: Callable[..., Installation]) -> None:
    """As systemd runs them after a reboot: in the home of the user, with what the unit says and nothing else."""
    from cigri.settings.loading import load

    grid = install()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIGRI_SET_DATA_DIRECTORY", str(grid.data))
        unit = login_unit.unit_text(load(), grid.environment)
    lines = [line.partition("=")[::2] for line in unit.splitlines()]
    said = [shlex.split(value)[0].replace("%%", "%") for name, value in lines if name == "Environment"]
    environment = {"HOME": str(grid.home), **dict(word.split("=", 1) for word in said)}
    environment |= {name: WORLD[name] for name in ("PYTHONPATH",) if name in WORLD}  # of a copy that has a fault
    commands = {name: shlex.split(value) for name, value in lines if name.startswith("Exec")}
    started = subprocess.run(commands["ExecStart"], env=environment, capture_output=True, text=True, check=False)
    assert started.returncode == 0, started
    assert grid.almighty() in grid.processes()
    stopped = subprocess.run(commands["ExecStop"], env=environment, capture_output=True, text=True, check=False)
    assert stopped.returncode == 0, stopped
    assert grid.processes() == []
