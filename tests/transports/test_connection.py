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


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def attempts(gate: ConnectionGate, clock: HandClock, pauses: list[float], *, is_refused: bool) -> list[bool]:
    """Whether an attempt that fails goes to the host, after each of the pauses."""
    seen: list[bool] = []
    for pause in pauses:
        clock.seconds += pause
        seen.append(False)
        with pytest.raises(SshConnectError) as failure:
            fail(gate, seen, SshConnectError("no", is_network=not is_refused, is_refused=is_refused))
        assert failure.value.is_refused == is_refused
    return seen


def fail(gate: ConnectionGate, seen: list[bool], error: SshConnectError) -> None:
    with gate.attempt("alice", time.monotonic() + TIMEOUT):
        seen[-1] = True
        raise error


def test_a_login_that_is_refused_is_tried_again_after_150_seconds() -> None:
    clock = HandClock()
    gate = ConnectionGate(clock)
    pauses = [0.0, 5.0, 10.0, 20.0, 40.0, 74.0, 2.0, 298.0, 3.0, 298.0]
    assert attempts(gate, clock, pauses, is_refused=True) == [True, *[False] * 5, True, False, True, False]
    with gate.attempt("bob", time.monotonic() + TIMEOUT):
        pass


def test_a_network_that_fails_is_tried_again_at_once() -> None:
    clock = HandClock()
    assert attempts(ConnectionGate(clock), clock, [0.0, 0.1, 0.1], is_refused=False) == [True] * 3


def test_a_login_that_is_let_in_begins_anew() -> None:
    clock = HandClock()
    gate = ConnectionGate(clock)
    attempts(gate, clock, [0.0, 151.0], is_refused=True)
    clock.seconds += 301.0
    with gate.attempt("alice", time.monotonic() + TIMEOUT):
        pass
    assert attempts(gate, clock, [1.0, 151.0], is_refused=True) == [True, True]
