"""How fast bytes may go: each who sends waits until it is the turn of its own."""

import threading
import time
from collections.abc import Collection

LONGEST_PIECE = 1.0  # seconds that a piece may take


class BandwidthLimiter:
    """Of one line; used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free_at = 0.0

    def due(self, size: int, rate: float, now: float) -> float:
        """Seconds until so many bytes may go, which go then, at so many bytes per second."""
        with self._lock:
            begin = max(now, self._free_at)
            self._free_at = begin + size / rate
            return begin - now


PacedLine = tuple[BandwidthLimiter, float]
"""A line, and bytes per second that it may take."""


def wait_turn(size: int, limits: Collection[PacedLine]) -> None:
    """Until so many bytes may go on all of these lines."""
    now = time.monotonic()
    if (seconds := max((pace.due(size, rate, now) for pace, rate in limits), default=0.0)) > 0:
        time.sleep(seconds)


def piece_of(most: int, limits: Collection[PacedLine]) -> int:
    """Bytes that are sent at once: no more than go soon."""
    return max(1, min([most, *(int(rate * LONGEST_PIECE) for _, rate in limits)]))
