"""Arrays in the order of their submission, and which of their jobs start next."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cigri.localbatch.pools import ResourcePools

PASSING_PATIENCE = 60.0
"""Seconds for which smaller jobs may pass the first one that does not fit."""


@dataclass(slots=True)
class JobArray:
    """One submission of equal jobs: `left` wait, `held` may not, `running` are under way; == does not regard these."""

    id: int
    uid: int
    name: str
    size: int
    need: Mapping[str, int]
    walltime: int
    notice: int
    argv: tuple[str, ...]
    left: deque[int] = field(default_factory=deque, compare=False)
    held: set[int] = field(default_factory=set, compare=False)
    running: int = field(default=0, compare=False)


class BackfillQueue:
    """First come, first served; smaller jobs may pass, but only for a while, so that no job starves."""

    def __init__(self, pools: ResourcePools, patience: float = PASSING_PATIENCE) -> None:
        self._pools = pools
        self._patience = patience
        self._arrays: dict[int, JobArray] = {}
        self._head = (0, 0.0)  # the first array that does not fit, and since when

    def __iter__(self) -> Iterator[JobArray]:
        return iter(self._arrays.values())

    def add(self, array: JobArray) -> None:
        """Queue an array, or the jobs that came back to it, in the old place."""
        if array.left:
            self._arrays[array.id] = array
            if next(reversed(self._arrays)) != max(self._arrays):
                self._arrays = dict(sorted(self._arrays.items()))

    def remove(self, array: JobArray, indexes: Iterable[int]) -> list[int]:
        """Take jobs out of the queue; those that no longer wait are left out of the answer."""
        wanted = set(indexes)
        removed = [index for index in array.left if index in wanted]
        array.left = deque(index for index in array.left if index not in wanted)
        if not array.left:
            self._arrays.pop(array.id, None)
        return removed

    def choose(self, now: float, limit: int) -> list[tuple[JobArray, int]]:
        """At most `limit` jobs that start now; their resources are taken from the pools."""
        starts: list[tuple[JobArray, int]] = []
        blocked = False
        for array in list(self._arrays.values()):
            if self._pools.free("cpu") < 1 or len(starts) >= limit:
                break
            if self._pools.impossible(array.need):
                continue
            taken = self._take(array, limit - len(starts))
            starts += taken
            if not array.left:
                del self._arrays[array.id]
            elif not blocked:
                blocked = True
                if self._holds_back(array, bool(taken), now):
                    break
        return starts

    def reason(self, array: JobArray) -> str:
        """Why its next job is not running, for a person."""
        pools = self._pools
        return pools.impossible(array.need) or pools.shortage(array.need) or "waits for its turn"

    def _take(self, array: JobArray, limit: int) -> list[tuple[JobArray, int]]:
        starts: list[tuple[JobArray, int]] = []
        while array.left and len(starts) < limit and self._pools.fit(array.need):
            self._pools.take(array.need)
            array.running += 1
            starts.append((array, array.left.popleft()))
        return starts

    def _holds_back(self, head: JobArray, moved: bool, now: float) -> bool:
        """Whether the first array that does not fit has been passed for too long."""
        if moved or self._head[0] != head.id:
            self._head = (head.id, now)
        return now - self._head[1] >= self._patience
