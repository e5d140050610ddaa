"""What keeps a connection quick and polite, and its callers in time."""

import socket
import threading
import time

import paramiko
import pytest

from cigri.errors import ClusterUnreachable
from cigri.transports.ssh import SshConnections
from cigri.transports.ssh_connection import ConnectionGate
from cigri.transports.ssh_login import SshConnectError

from .conftest import Sshd, wait_until

TIMEOUT = 20.0


class CountingLock:
    """A lock that tells how many have asked for it."""

    def __init__(self) -> None:
        self.asked = 0
        self._lock = threading.Lock()
        self.release = self._lock.release

    def acquire(self, timeout: float) -> bool:
        self.asked += 1
        return self._lock.acquire(timeout=timeout)


def test_nothing_waits_for_a_delayed_acknowledgement(sshd: Sshd, connections: SshConnections, me: str) -> None:
    transport = connections.transport("alpha", sshd.address(keepalive=7), me)
    transport.run("true", TIMEOUT)
    active = transport._connection._active()
    assert active
    assert isinstance(active.sock, socket.socket)
    assert active.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert active.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 21_000


def test_a_caller_stuck_inside_paramiko_is_freed(
    sshd: Sshd, connections: SshConnections, me: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_for_a_reply_that_never_comes(channel: paramiko.Channel, command: str) -> None:
        channel.event.clear()
        channel.event.wait(TIMEOUT)

    monkeypatch.setattr(paramiko.Channel, "exec_command", wait_for_a_reply_that_never_comes)
    started = time.monotonic()
    with pytest.raises(ClusterUnreachable):
        connections.transport("alpha", sshd.address(), me).run("true", 0.5)
    assert time.monotonic() - started < TIMEOUT


def test_one_attempt_at_a_time_goes_to_a_host() -> None:
    gate, deadline = ConnectionGate(), time.monotonic() + TIMEOUT
    inside: list[str] = []

    def second() -> None:
        with gate.attempt("bob", deadline):
            inside.append("bob")

    thread = threading.Thread(target=second)
    with gate.attempt("alice", deadline):
        thread.start()
        with (
            pytest.raises(SshConnectError, match="has not ended in time"),
            gate.attempt("carol", time.monotonic() + 0.05),
        ):
            inside.append("carol")
        assert inside == []
    thread.join()
    assert inside == ["bob"]


@pytest.mark.parametrize(("is_network", "is_shared"), [(True, True), (False, False)])
def test_who_waited_shares_a_failure_that_would_be_theirs_too(
    is_network: bool, is_shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, deadline = ConnectionGate(), time.monotonic() + TIMEOUT
    lock = CountingLock()
    monkeypatch.setattr(gate, "_lock", lock)
    seen: list[str] = []

    def second() -> None:
        try:
            with gate.attempt("bob", deadline):
                seen.append("tried")
        except SshConnectError as error:
            seen.append(str(error))

    thread = threading.Thread(target=second)

    def first() -> None:
        with gate.attempt("alice", deadline):
            thread.start()
            wait_until(lambda: lock.asked == 2, "bob waits")
            raise SshConnectError("down", is_network)

    with pytest.raises(SshConnectError):
        first()
    thread.join()
    assert seen == (["down"] if is_shared else ["tried"])
    with gate.attempt("bob", deadline):
        pass
