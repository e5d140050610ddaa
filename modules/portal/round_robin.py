"""What waits, by user, and is taken in turns: however much one user puts there, another waits for one of it."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class RoundRobin(Generic[T]):
    """Used by one thread at a time."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[T]] = {}
        """By user, the one who was served longest ago first."""

    def put(self, user: str, element: T) -> None:
        self._waiting.setdefault(user, deque()).append(element)

    def count(self, user: str) -> int:
        """How many of this user's wait."""
        return len(self._waiting.get(user, ()))

    def take(self, may_go: Callable[[str], bool] = lambda _: True) -> tuple[str, T] | None:
        """The user whose turn it is, of those who may go, and what this user put first; None: there is none."""
        user = next(filter(may_go, self._waiting), None)
        if user is None:
            return None
        own = self._waiting.pop(user)
        element = own.popleft()
        if own:
            self._waiting[user] = own
        return user, element
