"""When a task should start, as batch systems are told: Slurm by a nice value, Grid Engine by a priority; pure.

What is told is open-lmake's priority: the date at which a campaign ends, less the time along its critical path.
"""

from datetime import UTC, datetime
from math import log2
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from cigri.formats.units import HOW_DATE, MINUTE, read_date

MOST_NICE = 2**31 - 3  # the largest that sbatch takes: "out of range (+/- 2147483645)"
LEAST_PRIORITY = -1023  # the lowest that qsub takes
STEPS_PER_DOUBLING = (
    48  # of the priority, each time that the time left doubles: an hour is told from an hour and a minute
)


class StartDate(NamedTuple):
    """A task should start at `date`, and it is `now`."""

    date: datetime
    now: datetime


def read_origin(text: object) -> datetime:
    """A date, in UTC if it names no time zone."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no date ({HOW_DATE})")
    return read_date(text, UTC)


TimeOrigin = Annotated[datetime, BeforeValidator(read_origin)]
NiceFactor = Annotated[float, Field(gt=0, allow_inf_nan=False)]
FIRST_DAY = datetime(2023, 1, 1, tzinfo=UTC)


def nice(due: StartDate, origin: datetime = FIRST_DAY, factor: float = 1.0) -> int:
    """A nice value of Slurm: seconds from the origin to the date, times the factor, from 0 to MOST_NICE.

    Batch systems compare jobs with each other, so it is not to depend on when it is reckoned: hence the fixed origin.
    """
    seconds = (due.date - origin).total_seconds()
    return int(min(float(MOST_NICE), max(0.0, seconds * factor)))


def priority(due: StartDate) -> int:
    """A priority of Grid Engine: 0 for what should run by now, the lower the later the date.

    -STEPS_PER_DOUBLING * log2(1 + minutes ahead): a logarithm, since 1024 steps are too few to tell all dates apart,
    and near ones matter more.
    """
    ahead = max((due.date - due.now).total_seconds(), 0.0)
    return -min(round(STEPS_PER_DOUBLING * log2(1.0 + ahead / MINUTE)), -LEAST_PRIORITY)
