"""Accounts of one cluster, a few at a time: one that hangs is left to itself, and costs the others seconds at most."""

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

logger = logging.getLogger(__name__)

ACCOUNTS = 4  # asked at the same time: sshd gives few sessions (MaxSessions)
BUDGET = 10.0  # seconds that the others wait for an account
MOMENT = 1.0  # seconds that they wait for one that gave no sense before, or was left behind
MOST_LEFT_BEHIND = 3  # of both at work at a time: the others keep a session

T = TypeVar("T")


class AccountResults(NamedTuple, Generic[T]):
    """What came of each account that was done in time, and the accounts that were not begun: slow ones are at work."""

    in_time: list[T]
    not_begun: list[str]


class _AccountAtWork(NamedTuple):
    user: str
    begun: float
    patience: float  # seconds

    @property
    def deadline(self) -> float:
        return self.begun + self.patience


class AccountLanes:
    """Used by one thread at a time; an account that is left behind goes on in its own."""

    def __init__(self, cluster: str, executor: ThreadPoolExecutor) -> None:
        self._cluster, self._executor = cluster, executor
        self._left_behind: dict[str, Future[Any]] = {}
        self._slow: dict[str, float] = {}  # those that were left behind the last time, and when they were begun
        self.had_left_behind = False
        """Whether accounts that an earlier call left behind were at work until the last one."""

    @property
    def left_behind(self) -> list[Future[Any]]:
        """What goes on, or has ended since the last call."""
        return list(self._left_behind.values())

    def run(
        self, users: Iterable[str], action: Callable[[str], T], doubtful: Collection[str] = ()
    ) -> AccountResults[T]:
        """Do it for each account that is not at work still: the slow and the `doubtful` last, and hardly waited for.

        Raise what the action of one raised that ended in time.
        """
        self._forget_ended()
        wished = list(users)
        held_back = {user for user in wished if user in self._slow or user in doubtful}
        waiting = deque(sorted(wished, key=lambda user: (user in held_back, self._slow.get(user, 0.0))))
        at_work: dict[Future[T], _AccountAtWork] = {}
        ended: dict[str, Future[T]] = {}
        not_begun = []
        while waiting or at_work:
            while waiting and len(at_work) < ACCOUNTS:
                user = waiting.popleft()
                slow = len(self._left_behind) + sum(account.user in held_back for account in at_work.values())
                if user in self._left_behind or (user in held_back and slow >= MOST_LEFT_BEHIND):
                    not_begun.append(user)
                    continue
                patience = MOMENT if user in held_back else BUDGET
                at_work[self._executor.submit(action, user)] = _AccountAtWork(user, time.monotonic(), patience)
            if at_work:
                ended |= self._wait_for_one(at_work)
        return AccountResults([ended[user].result() for user in wished if user in ended], not_begun)

    def _forget_ended(self) -> None:
        self.had_left_behind = bool(self._left_behind)
        self._left_behind = {user: future for user, future in self._left_behind.items() if not future.done()}

    def _wait_for_one(self, at_work: dict[Future[T], _AccountAtWork]) -> dict[str, Future[T]]:
        """Wait until an account has ended or has had its time; give those that ended, and leave the others behind."""
        first = min(account.deadline for account in at_work.values())
        done, _ = wait(at_work, max(0.0, first - time.monotonic()), FIRST_COMPLETED)
        ended = {at_work.pop(future).user: future for future in done}
        for user in ended:
            self._slow.pop(user, None)
        now = time.monotonic()
        for future, account in list(at_work.items()):
            if account.deadline <= now:
                del at_work[future]
                self._left_behind[account.user] = future
                self._slow[account.user] = account.begun
                future.add_done_callback(partial(self._tell_failure, account.user))
        return ended

    def _tell_failure(self, user: str, late: Future[Any]) -> None:
        """Nobody asks for its result any more."""
        if not late.cancelled() and isinstance(error := late.exception(), Exception):
            logger.error("Cluster %s: account %s, which took long, failed: %s", self._cluster, user, error)
