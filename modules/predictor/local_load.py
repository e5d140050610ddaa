"""What the free cores of a grid come to while other people come and go; pure.

The model: others leave us a share of the cores, which stays as it is until it jumps. Jumps come at random (Poisson), so
many a second; after each the share is anything between none and all alike (uniform), whatever it was before. So the
mean of the shares to come is one half, and the mean square of a jump between two of them E[(U - V)^2] = 1/6. A load
with a daily rhythm forgets what it was in a quarter of a day: one jump in that time is thought to have been seen before
all measurement. A derivation of our own; how honest the intervals are that come of it the laboratory measures
(docs/explanation/prediction.md#when-it-ends, docs/explanation/laboratory.md).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

QUARTER = 21_600.0  # seconds: a daily rhythm is as likely up as down so long after
JUMP = 1.0 / 6.0  # mean square of the difference of two numbers between 0 and 1
JUMP_MOMENTS = 8  # at which the first jump is thought to come: steps of the midpoint rule
NEARLY_NOTHING = 1e-3  # to this part of it an end is looked for
FARTHEST_FACTOR = 64.0  # times what it would take if nothing changed


class LocalLoadModel(NamedTuple):
    """The share of the cores that others leave us now, jumps per second, and jumps to and fro in the last hour.

    The hour is the setting `forecast.window`.
    """

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


def outlook(places: Sequence[SharedCluster]) -> LocalLoadModel:
    """Of all clusters as one, whose loads are thought to change each by itself, so that the squares of changes add up.

    The jumps that were seen: n = (sum of the squares of the changes, in cores) / cores^2 / (1/6). Jumps a second:
    (1 + n) / (QUARTER + seconds watched), the mean of a Poisson rate by Bayes if one jump in QUARTER was seen before.
    Those to and fro are the same sum less the square of each cluster's whole change, which one jump would explain.
    """
    total = sum(place.total for place in places)
    if not total:
        return LocalLoadModel()
    share = 1.0 - sum(min(max(place.others, 0), place.total) for place in places) / total
    seen = sum(place.restless for place in places) / total**2 / JUMP
    returns = sum(max(place.restless - place.drift**2, 0.0) for place in places) / total**2 / JUMP
    return LocalLoadModel(share, (1.0 + seen) / (QUARTER + max(place.watched for place in places)), returns)


def reached(work: float, outlook: LocalLoadModel, chance: float) -> float:
    """Seconds after which it is done with this chance; `work`: seconds that it takes with the cores of now.

    By bisection of `done`, to a thousandth, from where all cores were ours at once to FARTHEST_FACTOR times the work.
    """
    share = min(max(outlook.share, 1e-3), 1.0)
    if work * outlook.jumps < 1e-6 or done(work, outlook, work * share) >= chance:
        return work
    early, late = work * share, work * FARTHEST_FACTOR
    while late - early > NEARLY_NOTHING * late:
        middle = (early + late) / 2 if late < 2 * early else math.sqrt(early * late)
        early, late = (early, middle) if done(work, outlook, middle) >= chance else (middle, late)
    return late


def done(work: float, outlook: LocalLoadModel, seconds: float) -> float:
    """The chance that it is done so soon: without a jump before, or after a first one at any moment until then.

    P(T <= t) = [t >= work] e^(-jumps work) + the sum over moments u < min(t, work) of P(the first jump comes then)
    P(enough in t - u, of what is left at u), which is share (work - u) seconds of all cores.
    """
    share = min(max(outlook.share, 1e-3), 1.0)
    before = min(seconds, work)
    step = before / JUMP_MOMENTS
    chance = math.exp(-outlook.jumps * work) if seconds >= work else 0.0
    for number in range(JUMP_MOMENTS):
        at = (number + 0.5) * step
        jumped = math.exp(-outlook.jumps * step * number) * -math.expm1(-outlook.jumps * step)
        chance += jumped * _enough(share * (work - at), seconds - at, outlook.jumps)
    return chance


def _enough(work: float, seconds: float, jumps: float) -> float:
    """The chance that a new level L, uniform between none and all, does so much in this time; both as of all cores.

    It lasts d = (1 - e^(-jumps seconds)) / jumps of the seconds on the mean, and after it half of the cores are
    expected: enough if L d + (seconds - d) / 2 >= work. How later levels vary is left out.
    """
    lasting = -math.expm1(-jumps * seconds) / jumps
    level = 0.5 + (work - seconds / 2) / lasting
    return 1.0 - min(max(level, 0.0), 1.0)
