"""From the ends of some runs to an expected end and a 90 % interval; pure."""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

NORMAL = 1.645
STUDENT = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833)  # 95 % of it, by degrees of freedom from 1
MODEL = 0.1  # deviation of the logarithm that no run shows: no simulation is the real thing
LITTLE_KNOWN = 0.35  # the same for a single run


class Interval(NamedTuple):
    low: float
    expected: float
    high: float


def interval(ends: Sequence[float], slack: float) -> Interval:
    """Seconds, of the next such end: log-normal, from a few samples; `slack` seconds more on both sides."""
    logarithms = [math.log(max(end, 1e-3)) for end in ends]
    middle, count = fmean(logarithms), len(ends)
    if count == 1:
        spread = NORMAL * LITTLE_KNOWN
    else:
        factor = STUDENT[min(count - 1, len(STUDENT)) - 1]
        spread = math.hypot(factor * stdev(logarithms) * math.sqrt(1 + 1 / count), NORMAL * MODEL)
    return Interval(max(0.0, math.exp(middle - spread) - slack), math.exp(middle), math.exp(middle + spread) + slack)


def errors(count: int) -> list[float]:
    """Deviations of a normal variable, one for each run, that stand for all of it; the middle ones come first."""
    shares = [(place + 0.5) / count for place in range(count)]
    return [NormalDist().inv_cdf(share) for share in sorted(shares, key=lambda share: abs(share - 0.5))]
