"""Virtual time: what is going to happen, in order."""

import heapq
from collections.abc import Callable

LAST_AT_A_TIME = 1  # the rank of what waits for all else of its instant


class SimulationEvents:
    """Events of one instant happen in the order of their ranks, then in the order in which they were noted."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, int, Callable[[], None]]] = []
        self._noted = 0

    def at(self, time: float, action: Callable[[], None], rank: int = 0) -> None:
        """Note it; what should have happened in the past happens next."""
        self._noted += 1
        heapq.heappush(self._events, (time, rank, self._noted, action))

    def run(self, until: float) -> None:
        """Let everything happen up to then; ValueError when that is in the past."""
        if until < self.now:
            raise ValueError(f"it is {self.now} s already, and time does not go back to {until} s")
        while self._events and self._events[0][0] <= until:
            time, _, _, action = heapq.heappop(self._events)
            self.now = max(self.now, time)
            action()
        self.now = until
