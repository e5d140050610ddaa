"""How people submit: a few of them most of the jobs, with round walltimes longer than the job."""

from itertools import accumulate
from random import Random

from cigri.formats.units import HOUR, MINUTE

ROUND_WALLTIMES = (
    *(minutes * MINUTE for minutes in (5, 10, 15, 30)),
    *(hours * HOUR for hours in (1, 2, 4, 8, 12, 24, 48, 72, 168)),
)
CAUTION = 3.0  # walltimes are asked for up to this many times the run time, before they are rounded up
USERS = 12

_ZIPF = tuple(accumulate(1.0 / rank for rank in range(1, USERS + 1)))


def pick_user(random: Random) -> int:
    """The number of a user from 1 on; user n submits 1/n as much as user 1."""
    return random.choices(range(1, USERS + 1), cum_weights=_ZIPF)[0]


def pick_name(random: Random) -> str:
    """`user1` and so on, as often as pick_user draws the number."""
    return f"user{pick_user(random)}"


def pick_walltime(random: Random, seconds: float) -> float:
    """What somebody asks for whose job will last `seconds`: never less."""
    wished = seconds * random.uniform(1.0, CAUTION)
    return next((walltime for walltime in ROUND_WALLTIMES if walltime >= wished), max(seconds, ROUND_WALLTIMES[-1]))
