"""When the last of many tasks ends; pure."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from modules.predictor.lifetimes import Lifetimes

RARE = 1e-6  # part of the tasks of which nothing is known
NEARLY = 0.02  # to this part of it an end is looked for


class Running(NamedTuple):
    """So many tasks run for `age` seconds (None: unknown), on a cluster so many times as fast as the mean."""

    tasks: int
    speed: float = 1.0
    age: float | None = None


class Bag(NamedTuple):
    """Tasks of a campaign: how long they last at the mean speed, what runs, and seconds until the last has begun.

    `replicas`: the speed at which the last tasks are begun a second time, if they are.
    """

    lifetimes: Lifetimes
    running: Sequence[Running]
    starting: float
    replicas: float | None = None


def last_end(bag: Bag, chance: float) -> float:
    """Seconds after which all have ended with this chance."""
    early, late = bag.starting, bag.starting + bag.lifetimes.mean
    while _all_ended(bag, late) < chance:
        early, late = late, bag.starting + 2 * (late - bag.starting)
    while late - early > NEARLY * (late - bag.starting) and late - early > 1e-3:
        middle = (early + late) / 2
        early, late = (early, middle) if _all_ended(bag, middle) >= chance else (middle, late)
    return late


def _all_ended(bag: Bag, seconds: float) -> float:
    """The chance that all have."""
    lifetimes, after = bag.lifetimes, seconds - bag.starting
    replica = bag.replicas * after if bag.replicas else 0.0
    logarithm = 0.0
    for tasks, speed, age in bag.running:
        still = _still(bag, speed, age, seconds, replica)
        logarithm += tasks * math.log1p(-min(still, 1.0 - 1e-12))
        if bag.starting:
            until = min(max(replica / speed, after), seconds)
            new = (until - after) * speed * lifetimes.unfinished(replica) if until > after else 0.0
            new += lifetimes.beyond(speed * until) - lifetimes.beyond(speed * seconds)
            logarithm -= tasks * max(new, 0.0) / lifetimes.mean
    return math.exp(logarithm)


def _still(bag: Bag, speed: float, age: float | None, seconds: float, replica: float) -> float:
    """The chance that one that runs now has not ended then."""
    lifetimes = bag.lifetimes
    if age is None:
        return lifetimes.beyond(max(speed * seconds, replica)) / lifetimes.beyond(0.0)
    outlasting = lifetimes.outlasting(age * speed)
    if outlasting < RARE:  # longer than all that was seen: as long again as it has run, as far as one can know
        return age / (age + seconds)
    first = min(lifetimes.outlasting(max(speed * (age + seconds), replica)) / outlasting, 1.0)
    once_more = min(lifetimes.unfinished(max(speed * seconds - lifetimes.mean, 0.0)) / outlasting, 1.0)
    return first + (1.0 - first) * lifetimes.again * once_more
