"""How durations are spread: counts in bins, from which any quantile can be read; pure.

Each bin is 2^(1/4) = 1.19 times as wide as the one before it, so that the relative error is the same for short and for
long tasks. Within a bin durations are taken to be spread evenly.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, zip_longest
from typing import TypeVar

SHORTEST_DURATION = 0.125  # seconds; the first bin holds all that is shorter
BINS_PER_DOUBLING = 4  # bins per factor of two, so that a quantile is at most 19 % off
LAST_BIN = 112  # from here on (over a year) all is the same
LONGEST_DURATION = SHORTEST_DURATION * 2.0 ** (LAST_BIN / BINS_PER_DOUBLING)  # seconds; no duration counts for more

WEIGHT = 100  # of the durations that a moving average has seen; the next one counts for a hundredth

Number = TypeVar("Number", int, float)


def bin_of(seconds: float) -> int:
    """Bin 0 is below SHORTEST_DURATION, bin b begins at SHORTEST_DURATION * 2^((b - 1) / BINS_PER_DOUBLING)."""
    if not seconds >= SHORTEST_DURATION:
        return 0
    if seconds >= LONGEST_DURATION:
        return LAST_BIN
    return min(1 + math.floor(BINS_PER_DOUBLING * math.log2(seconds / SHORTEST_DURATION) + 1e-9), LAST_BIN)


def counted(durations: Iterable[float]) -> list[int]:
    """How many durations (in seconds) are in each bin, up to the last bin that is not empty."""
    counts: list[int] = []
    for seconds in durations:
        place = bin_of(seconds)
        counts += [0] * (place + 1 - len(counts))
        counts[place] += 1
    return counts


def averaged(weight: int, average: float, durations: Iterable[float]) -> tuple[int, float]:
    """A moving average over `weight` durations goes on with these, in their order: the new weight and average.

    For the first WEIGHT durations that is their mean; from then on each counts for 1 / WEIGHT (exponential smoothing),
    so that old ones are forgotten when tasks change.
    """
    for seconds in durations:
        weight = min(weight + 1, WEIGHT)
        average += (min(LONGEST_DURATION, max(0.0, seconds)) - average) / weight
    return weight, average


def added(many: Iterable[Sequence[Number]]) -> list[Number]:
    """Counts of several, bin by bin; a shorter one goes on with 0."""
    return [sum(column) for column in zip_longest(*many, fillvalue=0)]


def quantile(counts: Sequence[float], share: float) -> float | None:
    """The duration in seconds that `share` (0 to 1) of the counted ones do not exceed; None: nothing is counted.

    Within the bin that holds it, as a line between its edges: at most 19 % off.
    """
    total = sum(counts)
    if not total:
        return None
    rank = min(1.0, max(0.0, share)) * total
    before = 0.0
    for place, upto in enumerate(accumulate(counts)):
        if upto >= rank and counts[place]:
            low, high = edge(place), edge(place + 1)
            return low + (high - low) * (rank - before) / counts[place]
        before = upto
    return edge(len(counts))


def with_running(counts: Sequence[int], running: Iterable[float]) -> list[float]:
    """The counts to be expected once those of these ages (in seconds), which still run, have ended (see `outlasting`).

    What outlasts all that has ended is assumed to last twice as long as the longest: nothing is known of it.
    """
    begun = counted(running)
    total = sum(counts) + sum(begun)
    shares = outlasting(counts, begun)
    expected = [total * (before - after) for before, after in pairwise(shares)]
    if total * shares[-1] > 1e-9:
        expected += [0.0] * (BINS_PER_DOUBLING - 1) + [total * shares[-1]]
    return expected


def outlasting(
    ended: Sequence[float], running: Sequence[float], unseen: float = 0.0, enough: float = 0.0
) -> list[float]:
    """At each edge the part of all that lasts longer, from counts of durations and of the ages of those that still run.

    Kaplan and Meier (1958): S(k) = (1 - d(1) / n(1)) ... (1 - d(k) / n(k)), d(i) being those that ended in bin i, and
    n(i) those that had lasted until it began. Who still runs is in n up to the bin of its age, and says no more; that
    is right as long as how long something has run by now tells nothing of how long it will.

    unseen: more that last longer than any of these; the list stops where no more than `enough` are left.
    """
    left, shares = sum(ended) + sum(running) + unseen, [1.0]
    for done, begun in zip_longest(ended, running, fillvalue=0):
        if left <= enough:
            break
        shares.append(shares[-1] * (1.0 - done / left))
        left -= done + begun
    return shares


def mean_beyond(counts: Sequence[float], seconds: float) -> float | None:
    """The mean of the counted durations that are longer than `seconds`; None when there is none.

    Of the bin that holds `seconds`, the part beyond counts, with its middle.
    """
    number = total = 0.0
    for place in range(bin_of(seconds), len(counts)):
        low, high = max(edge(place), seconds), edge(place + 1)
        share = counts[place] * (high - low) / (high - edge(place))
        number, total = number + share, total + share * (low + high) / 2
    return total / number if number > 0 else None


def longest(counts: Sequence[float]) -> float:
    """Seconds that no counted duration exceeds: the end of the last bin, which is not empty."""
    return edge(len(counts))


def scaled(counts: Sequence[float], factor: float) -> list[float]:
    """The same durations, each `factor` times as long, rounded to whole bins; a factor that is not above 0 is as 1."""
    shift = round(BINS_PER_DOUBLING * math.log2(min(factor, LONGEST_DURATION))) if factor > 0 else 0
    if shift >= 0:
        moved = [0.0] * shift + list(counts) if counts else []
        return [*moved[:LAST_BIN], sum(moved[LAST_BIN:])] if len(moved) > LAST_BIN else moved
    return [sum(counts[: 1 - shift]), *counts[1 - shift :]] if counts else []


def edge(place: int) -> float:
    """Where a bin begins, in seconds: the inverse of `bin_of`."""
    return 0.0 if place <= 0 else SHORTEST_DURATION * 2.0 ** ((place - 1) / BINS_PER_DOUBLING)
