"""Are forecasts honest? Of intervals that hold the end with a probability of 90 %, 90 of 100 have held it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class ToldInterval(NamedTuple):
    """An interval that was forecast, and the true end."""

    low: datetime
    high: datetime
    end: datetime


def calibration(told: Sequence[ToldInterval]) -> float | None:
    """The share of intervals that held the true end; None of none."""
    if not told:
        return None
    return sum(one.low <= one.end <= one.high for one in told) / len(told)
