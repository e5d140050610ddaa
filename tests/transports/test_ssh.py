"""SSH against a real sshd: what is shared, what is refused, and what is said when the front-end misbehaves."""

import logging
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cigri.errors import ClusterUnreachable, RemoteOutcomeUnknown
from cigri.transports.ssh import SshConnections
from tests.waiting import looks

from .conftest import Sshd, make_key, require, wait_until

TIMEOUT = 20.0


def test_users_of_one_login_share_one_connection(sshd: Sshd, connections: SshConnections, me: str) -> None:
    first = connections.transport("alpha", sshd.address(), me)
    second = connections.transport("alpha", sshd.address(), me)
    shells = {transport.run("echo $$", TIMEOUT).out for transport in (first, second, first)}
    assert len(shells) == 1
    assert sshd.log.read_text().count("Accepted publickey") == 1
    assert (first.commands, second.commands) == (2, 1)
    assert connections.sessions() == {"alpha": 1}


def test_a_new_address_of_a_cluster_is_used_at_once(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str
) -> None:
    old, new = start_sshd(), start_sshd()
    connections.transport("alpha", old.address(), me).run("true", TIMEOUT)
    connections.transport("alpha", new.address(), me).run("true", TIMEOUT)
    assert "Accepted publickey" in new.log.read_text()
    wait_until(lambda: not old.sessions(), "the old connection is given back")


def test_close_gives_the_connection_back(sshd: Sshd, connections: SshConnections, me: str) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    transport.run("true", TIMEOUT)
    transport.close()
    wait_until(lambda: not sshd.sessions(), "the connection is given back")
    assert connections.sessions() == {}


def test_twelve_threads_fit_through_few_sessions(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str
) -> None:
    sshd = start_sshd("MaxSessions 2\nMaxStartups 1")
    transport = connections.transport("alpha", sshd.address(), me)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda number: transport.run(f"echo {number}", TIMEOUT).out, range(60)))
    assert answers == [f"{number}\n" for number in range(60)]
    assert sshd.log.read_text().count("Accepted publickey") == 1


def test_a_server_full_of_newcomers_is_tried_again(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str
) -> None:
    sshd = start_sshd("MaxStartups 1")
    transport = connections.transport("alpha", sshd.address(), me)
    with _stranger(sshd) as stranger:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(transport.run, "echo in", TIMEOUT)
            drops = sshd.log.read_text().count("MaxStartups")
            wait_until(lambda: sshd.log.read_text().count("MaxStartups") > drops, "sshd has dropped a connection")
            stranger.close()
            assert waiting.result().out == "in\n"


def test_a_server_that_stays_full_is_unreachable_in_time_and_floods_no_log(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str, caplog: pytest.LogCaptureFixture
) -> None:
    sshd = start_sshd("MaxStartups 1")
    with _stranger(sshd):
        with pytest.raises(ClusterUnreachable, match="MaxStartups"):
            connections.transport("alpha", sshd.address(), me).run("true", 10.0)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_connection_lost_in_the_middle_leaves_the_outcome_unknown(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(transport.run, f"touch {tmp_path}/running; sleep 30", TIMEOUT)
        wait_until((tmp_path / "running").exists, "the script runs")
        for pid in sshd.sessions():
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(RemoteOutcomeUnknown, match="connection was lost") as lost:
            running.result()
    assert lost.value.is_front_end
    assert transport.run("echo again", TIMEOUT).out == "again\n"


def test_a_shell_that_ends_in_the_middle_is_its_users_own_trouble(
    sshd: Sshd, connections: SshConnections, me: str
) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    with pytest.raises(RemoteOutcomeUnknown, match="connection was lost") as lost:
        transport.run("kill -9 0", TIMEOUT)
    assert not lost.value.is_front_end


def test_an_idle_connection_that_died_is_opened_again_without_an_error(
    sshd: Sshd, connections: SshConnections, me: str
) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    transport.run("true", TIMEOUT)
    for pid in sshd.sessions():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not transport._connection._active(), "the loss is noticed")
    assert transport.run("echo again", TIMEOUT).out == "again\n"


def test_an_idle_shell_that_died_is_opened_again_without_an_error(
    sshd: Sshd, connections: SshConnections, me: str
) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    pid = int(transport.run("echo $$", TIMEOUT).out)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(shell.is_open for shell in transport._connection._pool._idle), "the loss is noticed")
    assert transport.run("echo again", TIMEOUT).out == "again\n"
    assert sshd.log.read_text().count("Accepted publickey") == 1


def test_a_server_that_is_down_is_unreachable_until_it_is_up(sshd: Sshd, connections: SshConnections, me: str) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    transport.run("true", TIMEOUT)
    sshd.stop()
    wait_until(lambda: not transport._connection._active(), "the loss is noticed")
    with pytest.raises(ClusterUnreachable, match=r"cannot be reached \(Connection refused\)"):
        transport.run("true", TIMEOUT)
    sshd.start()
    assert transport.run("echo up", TIMEOUT).out == "up\n"


@pytest.mark.parametrize("script", ["echo hi", "cat <<'END'\n" + ("x" * 79 + "\n") * 400_000 + "END"])
def test_a_server_that_hangs_does_not_hold_a_kept_shell_beyond_the_timeout(
    sshd: Sshd, connections: SshConnections, me: str, script: str
) -> None:
    transport = connections.transport("alpha", sshd.address(), me)
    transport.run("true", TIMEOUT)
    sshd.signal_all(signal.SIGSTOP)
    started = time.monotonic()
    # What was taken whole may run later; what was not, never does.
    with pytest.raises(RemoteOutcomeUnknown if len(script) < 1000 else ClusterUnreachable):
        transport.run(script, 1.0)
    assert time.monotonic() - started < 20
    sshd.signal_all(signal.SIGCONT)
    assert transport.run("echo again", TIMEOUT).out == "again\n"
    assert sshd.log.read_text().count("Accepted publickey") == 1


def test_a_server_that_hangs_is_unreachable_within_the_timeout(
    sshd: Sshd, connections: SshConnections, me: str
) -> None:
    sshd.signal_all(signal.SIGSTOP)
    started = time.monotonic()
    with pytest.raises(ClusterUnreachable, match="did not greet"):
        connections.transport("alpha", sshd.address(connect_timeout=1), me).run("true", TIMEOUT)
    assert time.monotonic() - started < 20
    sshd.signal_all(signal.SIGCONT)


def test_an_unknown_host_key_is_refused_with_the_command_that_adds_it(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    require("ssh-keyscan", "openssh-client")
    address = sshd.address(known_hosts=str(tmp_path / "known"))
    transport = connections.transport("alpha", address, me)
    with pytest.raises(ClusterUnreachable, match=r"is not in .*SHA256:") as refusal:
        transport.run("true", TIMEOUT)
    assert "Accepted" not in sshd.log.read_text()
    _run_advice(str(refusal.value))
    assert transport.run("echo known", TIMEOUT).out == "known\n"


def test_a_changed_host_key_is_refused_with_the_commands_that_replace_it(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    require("ssh-keyscan", "openssh-client")
    other = make_key(tmp_path / "other").with_suffix(".pub").read_text().split()
    sshd.known_hosts.write_text(f"[127.0.0.1]:{sshd.port} {other[0]} {other[1]}\n")
    transport = connections.transport("alpha", sshd.address(), me)
    with pytest.raises(ClusterUnreachable, match="HAS CHANGED") as refusal:
        transport.run("true", TIMEOUT)
    assert "Accepted" not in sshd.log.read_text()
    _run_advice(str(refusal.value))
    assert transport.run("echo known", TIMEOUT).out == "known\n"


def test_the_host_key_may_be_known_under_an_alias(sshd: Sshd, connections: SshConnections, me: str) -> None:
    key = (sshd.directory / "host_key.pub").read_text()
    sshd.known_hosts.write_text(f"alpha-frontend {key}")
    address = sshd.address(host_key_alias="alpha-frontend")
    assert connections.transport("alpha", address, me).run("echo in", TIMEOUT).out == "in\n"


def test_a_key_that_is_not_accepted_is_tried_once_however_many_wait(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    address = sshd.address(key_file=str(make_key(tmp_path / me).with_name("{user}")))
    transport = connections.transport("alpha", address, me)
    with ThreadPoolExecutor(4) as pool:
        failures = [attempt.exception() for attempt in [pool.submit(transport.run, "true", TIMEOUT) for _ in range(4)]]
    assert {type(failure) for failure in failures} == {ClusterUnreachable}
    assert "authorized_keys" in str(failures[0])
    assert sshd.log.read_text().count("Failed publickey") < 4


def test_a_key_that_is_refused_does_not_knock_again_at_once(
    sshd: Sshd, connections: SshConnections, me: str, tmp_path: Path
) -> None:
    transport = connections.transport("alpha", sshd.address(key_file=str(make_key(tmp_path / "key"))), me)
    for _ in range(4):
        with pytest.raises(ClusterUnreachable, match="authorized_keys") as refusal:
            transport.run("true", TIMEOUT)
        assert refusal.value.is_login_refused
        assert not refusal.value.is_front_end
    assert "not tried again for" in str(refusal.value)
    assert sshd.log.read_text().count("Connection from 127.0.0.1") == 2  # the first one asked whether it is up


def test_a_host_that_wants_more_than_a_key_is_told_of(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str
) -> None:
    sshd = start_sshd("PasswordAuthentication yes\nAuthenticationMethods publickey,password")
    with pytest.raises(ClusterUnreachable, match="it wants more than a key: password") as refusal:
        connections.transport("alpha", sshd.address(), me).run("true", TIMEOUT)
    assert refusal.value.is_login_refused


def test_a_missing_key_file_is_named(sshd: Sshd, connections: SshConnections, me: str) -> None:
    with pytest.raises(ClusterUnreachable, match="/no/such/key"):
        connections.transport("alpha", sshd.address(key_file="/no/such/key"), me).run("true", TIMEOUT)


def test_a_cluster_may_be_behind_a_jump_host(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str
) -> None:
    jump, target = start_sshd(), start_sshd()
    jump.configuration.with_name("user_key.pub").write_text((target.directory / "user_key.pub").read_text())
    target.known_hosts.write_text(target.known_hosts.read_text() + jump.known_hosts.read_text())
    transport = connections.transport("alpha", target.address(jump=f"{me}@127.0.0.1:{jump.port}"), me)
    assert transport.run("echo $SSH_CONNECTION", TIMEOUT).out.split()[-1] == str(target.port)
    assert len(transport.run("head -c 5000000 /dev/zero", TIMEOUT).out) == 5_000_000
    assert "Accepted publickey" in jump.log.read_text()
    jump.stop()
    wait_until(lambda: not transport._connection._active(), "the loss is noticed")
    with pytest.raises(ClusterUnreachable, match=f"{jump.port} cannot be reached"):
        transport.run("true", TIMEOUT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user without a rule in sudoers")
def test_a_gateway_account_runs_scripts_as_the_user_by_sudo(sshd: Sshd, connections: SshConnections, me: str) -> None:
    require("sudo", "sudo")
    transport = connections.transport("alpha", sshd.address(account=me), "daemon")
    assert transport.run("id -un; pwd", TIMEOUT).out.split() == ["daemon", "/usr/sbin"]
    with pytest.raises(RemoteOutcomeUnknown):
        transport.run("sleep 30", 0.3)
    assert connections.transport("alpha", sshd.address(account=me), me).run("id -un", TIMEOUT).out == f"{me}\n"
    assert sshd.log.read_text().count("Accepted publickey") == 1


def test_sudo_that_refuses_makes_the_cluster_unreachable(sshd: Sshd, connections: SshConnections, me: str) -> None:
    require("sudo", "sudo")
    transport = connections.transport("alpha", sshd.address(account=me), "no-such-user")
    with pytest.raises(ClusterUnreachable, match="sudo -n -u no-such-user refused"):
        transport.run("true", TIMEOUT)


@pytest.mark.parametrize(("extra", "cipher"), [("", "aes128-gcm@openssh.com"), ("Ciphers aes256-ctr", "aes256-ctr")])
def test_the_cheapest_cipher_that_the_server_knows_is_used(
    start_sshd: Callable[..., Sshd], connections: SshConnections, me: str, extra: str, cipher: str
) -> None:
    sshd = start_sshd(extra=f"LogLevel DEBUG1\n{extra}")
    assert connections.transport("alpha", sshd.address(), me).run("echo in", TIMEOUT).out == "in\n"
    ciphers = {line.split("cipher: ")[1].split()[0] for line in sshd.log.read_text().splitlines() if "cipher: " in line}
    assert ciphers == {cipher}


def _stranger(sshd: Sshd) -> socket.socket:
    """A connection that sshd has let in and that does not log in."""
    for _ in looks():
        stranger = socket.create_connection(("127.0.0.1", sshd.port))
        if stranger.recv(4) == b"SSH-":
            return stranger
        stranger.close()
    raise AssertionError


def _run_advice(message: str) -> None:
    command = message.partition("run: ")[2]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
