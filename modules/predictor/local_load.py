"""What the free cores of a grid come to while other people come and go; pure.

The share of the cores that is ours jumps now and then, at random, to anywhere between none and all. A load with a daily
rhythm forgets what it was in a quarter of a day; after a jump the mean over those to come is one half.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

QUARTER = 21_600.0  # seconds: a daily rhythm is as likely up as down so long after
JUMP = 1.0 / 6.0  # mean square of the difference of two numbers between 0 and 1
BISECTIONS = 8  # moments at which the first jump is thought to come
NEARLY_NOTHING = 1e-3  # to this part of it an end is looked for
FARTHEST_FACTOR = 64.0  # times what it would take if nothing changed


class LocalLoadOutlook(NamedTuple):
    """The share of the cores that others leave us now, jumps per second, and jumps to and fro in the last hour."""

    share: float = 1.0
    jumps: float = 1.0 / QUARTER
    returns: float = 0.0


class SharedCluster(NamedTuple):
    """A cluster: its cores, those of others, and the sums of the squares of their changes, and of these themselves,
    in the `watched` seconds."""

    total: int
    others: int
    restless: float = 0.0
    drift: float = 0.0
    watched: float = 0.0


def outlook(places: Sequence[SharedCluster]) -> LocalLoadOutlook:
    """Of all clusters as one. Between two levels that may be any, the square of a jump is a sixth on the mean."""
    total = sum(place.total for place in places)
    if not total:
        return LocalLoadOutlook()
    share = 1.0 - sum(min(max(place.others, 0), place.total) for place in places) / total
    seen = sum(place.restless for place in places) / total**2 / JUMP
    returns = sum(max(place.restless - place.drift**2, 0.0) for place in places) / total**2 / JUMP
    return LocalLoadOutlook(share, (1.0 + seen) / (QUARTER + max(place.watched for place in places)), returns)


def reached(work: float, outlook: LocalLoadOutlook, chance: float) -> float:
    """Seconds after which it is done with this chance; `work`: seconds that it takes with the cores of now."""
    share = min(max(outlook.share, 1e-3), 1.0)
    if work * outlook.jumps < 1e-6 or done(work, outlook, work * share) >= chance:
        return work
    early, late = work * share, work * FARTHEST_FACTOR
    while late - early > NEARLY_NOTHING * late:
        middle = (early + late) / 2 if late < 2 * early else math.sqrt(early * late)
        early, late = (early, middle) if done(work, outlook, middle) >= chance else (middle, late)
    return late


def done(work: float, outlook: LocalLoadOutlook, seconds: float) -> float:
    """The chance that it is done so soon."""
    share = min(max(outlook.share, 1e-3), 1.0)
    before = min(seconds, work)
    step = before / BISECTIONS
    chance = math.exp(-outlook.jumps * work) if seconds >= work else 0.0
    for number in range(BISECTIONS):
        at = (number + 0.5) * step
        jumped = math.exp(-outlook.jumps * step * number) * -math.expm1(-outlook.jumps * step)
        chance += jumped * _enough(share * (work - at), seconds - at, outlook.jumps)
    return chance


def _enough(work: float, seconds: float, jumps: float) -> float:
    """The chance that a new level, which is any between none and all, does so much in this time."""
    lasting = -math.expm1(-jumps * seconds) / jumps
    level = 0.5 + (work - seconds / 2) / lasting
    return 1.0 - min(max(level, 0.0), 1.0)
