"""The kept shells of one connection: few at once, used again by their user, the longest idle one given up."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from cigri.errors import Unreachable
from cigri.remote import Answer
from cigri.transports.shell import Shell

LIMIT = 4  # sshd's MaxSessions is 10 by default, and it frees a session some time after its end


class Refused(Exception):
    """The other side gives no further connection or session just now; it is worth trying again soon."""


class ShellPool:
    """Shells of any user of one cluster; `start` opens one and raises Unreachable or Refused."""

    def __init__(self, cluster: str, start: Callable[[str, float], Shell]) -> None:
        self._cluster = cluster
        self._start = start
        self._changed = threading.Condition()
        self._idle: list[Shell] = []  # the longest idle first
        self._count = 0

    @property
    def is_empty(self) -> bool:
        return self._count == 0

    def run(self, user: str, script: str, timeout: float) -> Answer:
        """Run sh text as the user; waiting for a shell counts."""
        deadline = time.monotonic() + timeout
        shell = self._take(user, deadline)
        is_sound = False
        try:
            answer = shell.run(script, deadline)
            is_sound = True
            return answer
        finally:
            self._give_back(shell, is_sound)

    def close(self, user: str | None = None) -> None:
        """Close the idle shells, of one user or of all; those at work are kept."""
        with self._changed:
            closing = [shell for shell in self._idle if user in (None, shell.user)]
            self._idle = [shell for shell in self._idle if shell not in closing]
        for shell in closing:
            self._discard(shell)

    def _take(self, user: str, deadline: float) -> Shell:
        pause, is_refused = 0.05, False
        while True:
            shell, surplus = self._reserve(user, deadline, is_refused)
            if surplus:
                self._discard(surplus)
                continue
            if shell:
                return shell
            try:
                return self._open(user, deadline)
            except Refused as refusal:
                is_refused = True
                self._pause(pause, deadline, f"no session for {user}: {refusal}")
                pause = min(2 * pause, 5.0)

    def _reserve(self, user: str, deadline: float, is_refused: bool) -> tuple[Shell | None, Shell | None]:
        """A shell of the user, or one to give up first, or neither: then a place is reserved for a new one."""
        with self._changed:
            while True:
                self._forget_the_dead()
                own = next((shell for shell in reversed(self._idle) if shell.user == user), None)
                if own:
                    self._idle.remove(own)
                    return own, None
                if self._idle and (is_refused or self._count >= LIMIT):
                    return None, self._idle.pop(0)
                if self._count < LIMIT:
                    self._count += 1
                    return None, None
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise Unreachable(
                        self._cluster, f"all {LIMIT} sessions are busy, none came free for {user} in time"
                    )

    def _open(self, user: str, deadline: float) -> Shell:
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

    def _give_back(self, shell: Shell, is_sound: bool) -> None:
        if not is_sound:
            return self._discard(shell)
        with self._changed:
            self._idle.append(shell)
            self._changed.notify_all()

    def _discard(self, shell: Shell) -> None:
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
            raise Unreachable(self._cluster, failure)
        with self._changed:
            self._changed.wait(seconds)
