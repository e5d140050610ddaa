"""Who gets a shell, who waits and who gives one up."""

import threading
import time
from collections.abc import Callable

import pytest

from cigri.errors import ClusterUnreachable, RemoteOutcomeUnknown
from cigri.shell.results import RawShellResult
from cigri.transports.persistent_shell import PersistentShell
from cigri.transports.shell_pool import MOST_SESSIONS, SessionRefused, ShellPool
from tests.waiting import looks


class FakeShell(PersistentShell):
    """Waits for `gate`, then answers with its own number."""

    def __init__(self, user: str, number: int, gate: threading.Event) -> None:
        self.user = user
        self.number = number
        self.is_closed = self.is_terminated = False
        self._gate = gate

    @property
    def is_open(self) -> bool:
        return not self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def terminate(self) -> None:
        self.is_terminated = True
        self._gate.set()

    def run(self, script: str, deadline: float, _sent: bytes = b"") -> RawShellResult:
        if script == "fail" or not self._gate.wait(deadline - time.monotonic()) or self.is_terminated:
            raise RemoteOutcomeUnknown("alpha", "no answer")
        return RawShellResult(self.number, b"", b"")


class Server:
    """Gives fake shells, at most `limit` at once, and remembers them."""

    def __init__(self, limit: int = 100) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.limit = limit
        self.shells: list[FakeShell] = []
        self.pool = ShellPool("alpha", self._start)

    @property
    def open_count(self) -> int:
        return sum(shell.is_open for shell in self.shells)

    def _start(self, user: str, deadline: float) -> PersistentShell:
        if self.open_count >= self.limit:
            raise SessionRefused("full")
        self.shells.append(FakeShell(user, len(self.shells), self.gate))
        return self.shells[-1]

    def ask(self, user: str, script: str = "", timeout: float = 10.0) -> int:
        return self.pool.run(user, script, timeout).status


def _busy(server: Server, user: str, count: int) -> list[threading.Thread]:
    """Threads that hold a shell each until the gate opens."""
    server.gate.clear()
    before = len(server.shells)
    threads = [threading.Thread(target=server.ask, args=(user,)) for _ in range(count)]
    for thread in threads:
        thread.start()
    assert any(len(server.shells) >= before + count for _ in looks(longest=0.01))
    return threads


def _finish(server: Server, threads: list[threading.Thread]) -> None:
    server.gate.set()
    for thread in threads:
        thread.join()


def test_a_user_keeps_a_shell() -> None:
    server = Server()
    assert [server.ask(user) for user in ("alice", "bob", "alice", "bob")] == [0, 1, 0, 1]


def test_the_longest_idle_shell_is_given_up_for_another_user() -> None:
    server = Server()
    for user in ("a", "b", "c", "d", "a", "e"):
        server.ask(user)
    assert [shell.user for shell in server.shells if shell.is_closed] == ["b"]
    assert server.open_count == MOST_SESSIONS


def test_a_dead_idle_shell_is_replaced() -> None:
    server = Server()
    server.ask("alice")
    server.shells[0].is_closed = True
    assert server.ask("alice") == 1
    assert server.pool.sessions > 0


def test_a_shell_that_failed_is_not_used_again() -> None:
    server = Server()
    with pytest.raises(RemoteOutcomeUnknown):
        server.ask("alice", "fail")
    assert server.shells[0].is_closed
    assert server.pool.sessions == 0
    assert server.ask("alice") == 1


def test_waiting_for_a_busy_shell_counts_as_time() -> None:
    server = Server()
    threads = _busy(server, "alice", MOST_SESSIONS)
    started = time.monotonic()
    with pytest.raises(ClusterUnreachable, match="all 4 sessions are busy"):
        server.ask("alice", timeout=0.2)
    assert 0.15 < time.monotonic() - started < 20
    assert len(server.shells) == MOST_SESSIONS
    _finish(server, threads)


def test_who_waits_gets_the_shell_that_comes_free() -> None:
    server = Server()
    threads = _busy(server, "alice", MOST_SESSIONS)
    answers: list[int] = []
    waiting = threading.Thread(target=lambda: answers.append(server.ask("alice")))
    waiting.start()
    _finish(server, [*threads, waiting])
    assert answers
    assert len(server.shells) == MOST_SESSIONS


def test_a_refusal_is_met_by_giving_up_an_idle_shell() -> None:
    server = Server(limit=1)
    assert [server.ask(user) for user in ("alice", "bob", "alice")] == [0, 1, 2]
    assert server.open_count == 1


def test_a_refusal_that_stays_is_unreachable_in_time() -> None:
    server = Server(limit=0)
    with pytest.raises(ClusterUnreachable, match="no session for alice: full"):
        server.ask("alice", timeout=0.3)
    assert server.pool.sessions == 0


def test_a_refusal_ends_when_a_busy_shell_comes_free() -> None:
    server = Server(limit=1)
    threads = _busy(server, "alice", 1)
    answers: list[int] = []
    waiting = threading.Thread(target=lambda: answers.append(server.ask("bob")))
    waiting.start()
    _finish(server, [*threads, waiting])
    assert answers == [1]


@pytest.mark.parametrize(("user", "left"), [("alice", ["bob"]), (None, [])])
def test_close_ends_the_idle_shells(user: str | None, left: list[str]) -> None:
    server = Server()
    server.ask("alice")
    server.ask("bob")
    server.pool.close(user)
    assert [shell.user for shell in server.shells if shell.is_open] == left
    assert (server.pool.sessions == 0) == (left == [])


def test_a_shell_that_is_at_work_is_closed_when_it_is_done() -> None:
    server = Server()
    threads = _busy(server, "alice", 2)
    server.pool.close()
    assert server.open_count == 2
    _finish(server, threads)
    assert server.open_count == 0
    assert server.pool.sessions == 0
    assert server.ask("alice") == 2


def test_who_is_at_work_finds_a_terminated_shell_gone_and_who_waits_gets_none() -> None:
    server = Server()
    failures: list[str] = []

    def ask() -> None:
        try:
            server.ask("alice")
        except (RemoteOutcomeUnknown, ClusterUnreachable) as error:
            failures.append(type(error).__name__)

    server.gate.clear()
    threads = [threading.Thread(target=ask) for _ in range(MOST_SESSIONS + 1)]
    for thread in threads:
        thread.start()
    assert any(len(server.pool._at_work) >= MOST_SESSIONS for _ in looks(longest=0.01))
    server.pool.terminate()
    for thread in threads:
        thread.join(10)
    assert sorted(failures) == ["ClusterUnreachable"] + ["RemoteOutcomeUnknown"] * MOST_SESSIONS
    assert server.pool.sessions == 0
    assert server.open_count == 0


def test_a_start_that_fails_gives_its_place_back() -> None:
    def fail(user: str, deadline: float) -> PersistentShell:
        raise ClusterUnreachable("alpha", "down")

    start: Callable[[str, float], PersistentShell] = fail
    pool = ShellPool("alpha", start)
    for _ in range(MOST_SESSIONS + 1):
        with pytest.raises(ClusterUnreachable, match="down"):
            pool.run("alice", "true", 1.0)
    assert pool.sessions == 0
