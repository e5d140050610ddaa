"""How long to wait between two looks at a fact."""

import time
from collections.abc import Iterator


def looks(seconds: float, longest: float = 0.5) -> Iterator[float]:
    """Seconds left until the deadline, at each look; they become rare, for they slow down what is looked at."""
    deadline = time.monotonic() + seconds
    pause = 0.02
    while True:
        yield deadline - time.monotonic()
        time.sleep(pause)
        pause = min(1.4 * pause, longest)
