"""Are forecasts honest? Of intervals that hold the end with a probability of 90 %, 90 of 100 have held it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class IntervalOutcome(NamedTuple):
    """An interval that was forecast, and the true end."""

    low: datetime
    high: datetime
    end: datetime


def calibration(intervals: Sequence[IntervalOutcome]) -> float | None:
    """The share of intervals that held the true end, 0.9 if forecasts are honest; None where there is no interval."""
    if not intervals:
        return None
    return sum(interval.low <= interval.end <= interval.high for interval in intervals) / len(intervals)
