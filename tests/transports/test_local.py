"""This host as a cluster: who one is there, and in which surroundings."""

import os
import pwd
from pathlib import Path

import pytest

from cigri.errors import ClusterUnreachable
from cigri.localbatch.job_owner import USUAL_UMASK
from cigri.transports.local import PATH, LocalTransport
from tests.file_modes import umask

from .conftest import require

TIMEOUT = 20.0
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user without a rule in sudoers")


def test_surroundings_are_those_of_a_login_and_hold_nothing_of_ours(me: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIGRI_DATABASE", "secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    transport = LocalTransport("here", me)
    environment = dict(line.split("=", 1) for line in transport.run("env", TIMEOUT).out.splitlines())
    transport.close()
    account = pwd.getpwnam(me)
    assert environment["HOME"] == account.pw_dir
    assert environment["USER"] == environment["LOGNAME"] == me
    assert environment["PATH"] == PATH
    assert set(environment) <= {"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "PWD", "OLDPWD", "_", "SHLVL"}


def test_commands_are_counted(me: str) -> None:
    transport = LocalTransport("here", me)
    for _ in range(3):
        transport.run("true", TIMEOUT)
    transport.close()
    assert transport.commands == 3


def test_no_account_is_unreachable() -> None:
    with pytest.raises(ClusterUnreachable, match="no account 'no-such-user'"):
        LocalTransport("here", "no-such-user").run("true", TIMEOUT)


@needs_root
def test_root_runs_scripts_as_the_user_with_the_groups_of_the_user() -> None:
    transport = LocalTransport("here", "daemon")
    answer = transport.run("id -un; id -G; pwd", TIMEOUT)
    transport.close()
    assert answer.out.split() == ["daemon", "1", "/usr/sbin"]


@needs_root
def test_another_account_has_the_umask_of_logins_and_not_that_of_our_service() -> None:
    transport = LocalTransport("here", "daemon")
    with umask(0o077):
        answer = transport.run("umask", TIMEOUT)
    transport.close()
    assert int(answer.out, 8) == USUAL_UMASK


@needs_root
def test_others_run_scripts_as_the_user_by_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    require("sudo", "sudo")
    monkeypatch.setattr(os, "geteuid", lambda: pwd.getpwnam("games").pw_uid)
    transport = LocalTransport("here", "daemon")
    answer = transport.run('id -un; pwd; echo "$SUDO_USER"', TIMEOUT)
    transport.close()
    assert answer.out.split() == ["daemon", "/usr/sbin", "root"]


def test_sudo_that_refuses_makes_the_cluster_unreachable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "sudo"
    fake.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("cigri.transports.local.PATH", f"{tmp_path}:{PATH}")
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(ClusterUnreachable, match="sudo -n -u daemon refused: sudo: a password is required"):
        LocalTransport("here", "daemon").run("true", TIMEOUT)


@needs_root
def test_a_user_without_a_home_is_unreachable() -> None:
    with pytest.raises(ClusterUnreachable, match="cd: "):
        LocalTransport("here", "nobody").run("true", TIMEOUT)
