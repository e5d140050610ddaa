"""What other people will use of a cluster: as it was so many days ago, coming from what it is now; pure."""

import math
from collections import deque
from collections.abc import Iterator, Sequence

from cigri.flow.grid_snapshot import USAGE_STEP
from cigri.formats.units import HOUR
from modules.laboratory.load import LocalJob

STEPS_A_DAY = 48
NOW_FADES = 1.0 * HOUR  # seconds in which the difference between now and then falls to a third
NO_END = 1e9  # seconds


def days(history: Sequence[float]) -> int:
    """How many whole days a history of steps holds."""
    return len(history) // STEPS_A_DAY


def levels(history: Sequence[float], now: float, back: int, steps: int) -> list[float]:
    """Cores in each of the next steps; `back` days of the past come again and again, 0: it stays as it is."""
    window = history[len(history) - back * STEPS_A_DAY :] if back else [now]
    off = now - window[0]
    return [
        max(0.0, window[step % len(window)] + off * math.exp(-step * USAGE_STEP / NOW_FADES)) for step in range(steps)
    ]


def jobs(cores: Sequence[int]) -> Iterator[LocalJob]:
    """Jobs that use so many cores in each step, the first come going first; the last ones stay."""
    held: deque[tuple[float, int]] = deque()
    ended: list[LocalJob] = []
    level = 0
    for step, wanted in enumerate(cores):
        now = step * USAGE_STEP
        while level > wanted:
            since, first = held.popleft()
            gone = min(first, level - wanted)
            if gone < first:
                held.appendleft((since, first - gone))
            level -= gone
            ended.append(_job(since, gone, now - since))
        if wanted > level:
            held.append((now, wanted - level))
            level = wanted
    ended += [_job(since, left, NO_END) for since, left in held]
    yield from sorted(ended, key=lambda job: job.submitted)


def _job(since: float, cores: int, seconds: float) -> LocalJob:
    return LocalJob(since, cores, seconds, seconds, "others")
