"""Waiting for a fact, with a deadline that a busy machine meets, and what is told of a deadline that was missed."""

import os
import time
from collections.abc import Callable, Iterator

PATIENCE = 120.0  # seconds; a deadline costs time only where the fact never comes true


class MissedDeadline(Exception):
    """A fact did not come true in time: the code is wrong, or the machine was too busy."""

    def __init__(self, what: str, seconds: float) -> None:
        load = " ".join(f"{part:.1f}" for part in os.getloadavg())
        super().__init__(f"not within {seconds:g} s: {what or 'what was waited for'} (load average {load})")


def looks(
    seconds: float = PATIENCE, longest: float = 0.5, what: str | Callable[[], str] = "", shortest: float = 0.02
) -> Iterator[float]:
    """Seconds left until the deadline, at each look; raise MissedDeadline after the last, which has none left.

    Looks become rare, from `shortest` up to `longest` seconds apart, for they slow down what is looked at.
    """
    deadline = time.monotonic() + seconds
    pause = shortest
    while (left := deadline - time.monotonic()) > 0:
        yield left
        time.sleep(min(pause, left))
        pause = min(1.4 * pause, longest)
    yield 0.0
    raise MissedDeadline(what if isinstance(what, str) else what(), seconds)
