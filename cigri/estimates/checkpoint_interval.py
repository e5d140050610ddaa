"""How often a task is best asked to save its state: Daly's formula, from kills and what saving costs; pure."""

from math import ceil, sqrt
from typing import NamedTuple

SHORTEST_PERIOD = 60.0  # seconds; a program's own start, and the wrapper's looks, are of no account beside it
MOST_STOPS = 8  # in a job, for a task may stop only so often (the setting jobs.checkpoints)


class CheckpointCost(NamedTuple):
    """Seconds that a checkpoint takes of a task: `saving`, and `away` until it runs again; None: it goes on at once."""

    saving: float
    away: float | None = None

    @property
    def whole(self) -> float:
        return self.saving + (self.away or 0.0)


class CheckpointInterval(NamedTuple):
    """A task is asked to save its state each `period` seconds, for such jobs are killed after `life` in the mean.

    `cost`: what a checkpoint is thought to take; both in seconds.
    """

    period: int
    life: float
    cost: float


def best_interval(life: float, cost: float) -> float:
    """Seconds to work between two checkpoints that take `cost`, if jobs are killed after `life` seconds in the mean.

    If kills come at random, working in stretches of t seconds takes life (e^((t + cost) / life) - 1) / t times as long
    as undisturbed. Young's first approximation of the t for which that is least is sqrt(2 cost life); this is Daly's
    of a higher order, of 2006. Where saving takes longer than two lives he takes one life.
    """
    if cost >= 2 * life:
        return life
    share = cost / (2 * life)
    return sqrt(2 * cost * life) * (1 + sqrt(share) / 3 + share / 9) - cost


def choose_rhythm(hazard: float, cost: CheckpointCost, last: int) -> CheckpointInterval | None:
    """None: nothing to fear (`hazard` is in kills per second), or the order that comes after `last` seconds is enough.

    The wrapper counts from one signal to the next, saving included.
    """
    if not hazard > 0:
        return None
    life = 1 / hazard
    period = best_interval(life, cost.whole)
    if cost.away is None:
        period += cost.saving
    else:
        period = max(period, min(life, last / MOST_STOPS))
    period = max(SHORTEST_PERIOD, period)
    return CheckpointInterval(ceil(period), life, cost.whole) if period < last else None
