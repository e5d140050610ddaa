"""The kept shells of one connection: few at once, used again by their user, the longest idle one given up."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from cigri.errors import ClusterUnreachable
from cigri.estimates.backoff import SESSIONS_THAT_ARE_REFUSED
from cigri.shell.results import RawShellResult
from cigri.transports.persistent_shell import PersistentShell

MOST_SESSIONS = 4  # sshd's MaxSessions is 10 by default, and it frees a session some time after its end


class SessionRefused(Exception):
    """The other side gives no further connection or session just now; it is worth trying again soon."""


class ShellPool:
    """Shells of any user of one cluster; `start` opens one and raises ClusterUnreachable or SessionRefused."""

    def __init__(self, cluster: str, start: Callable[[str, float], PersistentShell]) -> None:
        self._cluster = cluster
        self._start = start
        self._changed = threading.Condition()
        self._idle: list[PersistentShell] = []  # the longest idle first
        self._at_work: list[PersistentShell] = []
        self._given_up: list[PersistentShell] = []  # of those at work
        self._is_terminated = False
        self._count = 0

    @property
    def sessions(self) -> int:
        """Shells that are idle, at work or on their way."""
        return self._count

    def run(self, user: str, script: str, timeout: float, sent: bytes = b"") -> RawShellResult:
        """Run sh text as the user, with `sent` as its stdin; waiting for a shell counts."""
        deadline = time.monotonic() + timeout
        shell = self._take(user, deadline)
        with self._changed:
            self._at_work.append(shell)
            if self._is_terminated:
                shell.terminate()
        is_sound = False
        try:
            answer = shell.run(script, deadline, sent)
            is_sound = True
            return answer
        finally:
            self._give_back(shell, is_sound)

    def close(self, user: str | None = None) -> None:
        """Close the shells of one user or of all: the idle ones now, those at work when they are done."""
        with self._changed:
            closing = [shell for shell in self._idle if user in (None, shell.user)]
            self._idle = [shell for shell in self._idle if shell not in closing]
            self._given_up += [shell for shell in self._at_work if user in (None, shell.user)]
        for shell in closing:
            self._discard(shell)

    def terminate(self) -> None:
        """Close all shells for good; who is at work finds its own gone, and who waits for one gets none."""
        self.close()
        with self._changed:
            self._is_terminated = True
            self._changed.notify_all()
            for shell in self._at_work:
                shell.terminate()

    def _take(self, user: str, deadline: float) -> PersistentShell:
        refusals = 0
        while True:
            shell, surplus = self._reserve(user, deadline, refusals > 0)
            if surplus:
                self._discard(surplus)
                continue
            if shell:
                return shell
            try:
                return self._open(user, deadline)
            except SessionRefused as refusal:
                refusals += 1
                pause = SESSIONS_THAT_ARE_REFUSED.seconds(refusals)
                self._pause(pause, deadline, f"no session for {user}: {refusal}")

    def _reserve(
        self, user: str, deadline: float, is_refused: bool
    ) -> tuple[PersistentShell | None, PersistentShell | None]:
        """A shell of the user, or one to give up first, or neither: then a place is reserved for a new one."""
        with self._changed:
            while True:
                if self._is_terminated:
                    raise ClusterUnreachable(
                        self._cluster, f"the connection was given back before {user} got a session"
                    )
                self._forget_the_dead()
                own = next((shell for shell in reversed(self._idle) if shell.user == user), None)
                if own:
                    self._idle.remove(own)
                    return own, None
                if self._idle and (is_refused or self._count >= MOST_SESSIONS):
                    return None, self._idle.pop(0)
                if self._count < MOST_SESSIONS:
                    self._count += 1
                    return None, None
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise ClusterUnreachable(
                        self._cluster, f"all {MOST_SESSIONS} sessions are busy, none came free for {user} in time"
                    )

    def _open(self, user: str, deadline: float) -> PersistentShell:
        try:
            return self._start(user, deadline)
        except BaseException:
            self._free_place()
            raise

    def _forget_the_dead(self) -> None:
        """Called with the lock held; closing what has ended does not wait."""
        for shell in [shell for shell in self._idle if not shell.is_open]:
            self._idle.remove(shell)
            self._count -= 1
            shell.close()

    def _give_back(self, shell: PersistentShell, is_sound: bool) -> None:
        with self._changed:
            self._at_work.remove(shell)
            is_kept = is_sound and shell not in self._given_up
            self._given_up = [other for other in self._given_up if other is not shell]
            if is_kept:
                self._idle.append(shell)
                self._changed.notify_all()
        if not is_kept:
            self._discard(shell)

    def _discard(self, shell: PersistentShell) -> None:
        try:
            with suppress(OSError):
                shell.close()
        finally:
            self._free_place()

    def _free_place(self) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def _pause(self, seconds: float, deadline: float, failure: str) -> None:
        if time.monotonic() + seconds >= deadline:
            raise ClusterUnreachable(self._cluster, failure)
        with self._changed:
            self._changed.wait(seconds)
