"""Which of our lost work a better decision would have saved; pure. Times in seconds, work in core-seconds.

Lost by our own kills and by walltimes that were too short: always avoidable. Lost in any other way, it was avoidable if

- on another cluster as many cores were free from the start of the job until it died: there it would have lived on; or
- it could be seen coming: of what ours did on that cluster in the SEEN seconds before it started, more than MOST was
  lost.

Each job is judged by itself, so the same free cores may speak against several: the figure is rather too high.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modules.laboratory.cluster.meters import LostRun, WasteKind

OWN_FAULTS = (WasteKind.KILLED, WasteKind.TIMEOUT)
SEEN_BY_THEN = 900.0
MOST_OF_CORES = 0.5

CoreSeries = Sequence[tuple[float, float]]
"""A piecewise constant figure: (time, value from then on), times rising."""


class ClusterHistory(NamedTuple):
    """What a cluster lost of ours, in the order of its ends, and its free cores and ours over time."""

    losses: Sequence[LostRun]
    free: CoreSeries
    ours: CoreSeries


def avoidable(pasts: Mapping[str, ClusterHistory]) -> dict[str, float]:
    """Core-seconds of work, by cluster, that ours lost there and a better decision would have saved."""
    return {
        name: sum(loss.work for loss in past.losses if loss.kind in OWN_FAULTS or _is_avoidable(loss, name, pasts))
        for name, past in pasts.items()
    }


def _is_avoidable(loss: LostRun, name: str, pasts: Mapping[str, ClusterHistory]) -> bool:
    if any(lowest(past.free, loss.since, loss.until) >= loss.cores for other, past in pasts.items() if other != name):
        return True
    here = pasts[name]
    begin = max(loss.since - SEEN_BY_THEN, 0.0)
    first, last = (bisect_right(here.losses, time, key=lambda past: past.until) for time in (begin, loss.since))
    lost = sum(earlier.work for earlier in here.losses[first:last])
    return lost > 0 and lost > MOST_OF_CORES * held(here.ours, begin, loss.since)


def lowest(points: CoreSeries, since: float, until: float) -> float:
    """The least value from `since` to `until`, a change at `until` left out."""
    place = bisect_right(points, since, key=_time) - 1
    least = points[place][1] if place >= 0 else 0.0
    while (place := place + 1) < len(points) and points[place][0] < until:
        least = min(least, points[place][1])
    return least


def held(points: CoreSeries, since: float, until: float) -> float:
    """The integral from `since` to `until`."""
    place = max(bisect_right(points, since, key=_time) - 1, 0)
    total = 0.0
    while place < len(points) and points[place][0] < until:
        end = points[place + 1][0] if place + 1 < len(points) else until
        total += points[place][1] * (min(end, until) - max(points[place][0], since))
        place += 1
    return total


def _time(point: tuple[float, float]) -> float:
    return point[0]
