"""From the ends of some runs to an expected end and a 90 % interval; pure.

The logarithm of an end is a straight line over the error of the run, by which durations were off, and some luck.
"""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from modules.laboratory.whatif.durations import NORMAL

STUDENT = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833)  # 95 % of it, by degrees of freedom from 1
MODEL_ERROR = 0.1  # deviation of the logarithm that no run shows: no simulation is the real thing
LUCK = 0.1  # deviation of the logarithm between runs of the same error, before any is seen: worth two of them
LITTLE_KNOWN = 0.35  # of the logarithm, by a single run
DURATION_ERRORS = (-1.0, 1.0, 0.0, -0.5, 0.5)
"""Of the runs, in the order in which they are begun, as deviations of a normal variable: any two tell a line."""


class SimulatedEnd(NamedTuple):
    """The end of one run in seconds, where all durations were off by `error` deviations."""

    error: float
    seconds: float


class SimulatedInterval(NamedTuple):
    low: float
    expected: float
    high: float


def interval(ends: Sequence[SimulatedEnd], slack: float) -> SimulatedInterval:
    """Seconds, of the next such end, whose error is normal; `slack` seconds more on both sides."""
    errors, logarithms = [end.error for end in ends], [math.log(max(end.seconds, 1e-3)) for end in ends]
    width = sum((error - fmean(errors)) ** 2 for error in errors)
    if not width:
        middle, spread = fmean(logarithms), NORMAL * LITTLE_KNOWN
    else:
        middle, slope, luck = _line(errors, logarithms, width)
        chance = STUDENT[min(len(ends), len(STUDENT)) - 1] * luck * math.sqrt(1 + 1 / len(ends))
        spread = math.hypot(NORMAL * slope, chance, NORMAL * MODEL_ERROR)
    return SimulatedInterval(
        max(0.0, math.exp(middle - spread) - slack), math.exp(middle), math.exp(middle + spread) + slack
    )


def _line(errors: Sequence[float], logarithms: Sequence[float], width: float) -> tuple[float, float, float]:
    """Its value where the error is 0, its slope, and how far runs lie from it, two that are as LUCK included."""
    centre, mean = fmean(errors), fmean(logarithms)
    pairs = list(zip(errors, logarithms, strict=True))
    slope = sum((error - centre) * (logarithm - mean) for error, logarithm in pairs) / width
    left = sum((logarithm - mean - slope * (error - centre)) ** 2 for error, logarithm in pairs)
    return mean - slope * centre, slope, math.sqrt((2 * LUCK**2 + left) / len(errors))
