"""How long tasks last, as those that have ended and those that run still show together; pure."""

import math
from collections.abc import Sequence
from copy import copy

from cigri.estimates.durations import BINS_PER_DOUBLING, LAST_BIN, edge, outlasting

EDGES = [edge(place) for place in range(LAST_BIN + 2)]
HALF = 2.0 ** (0.5 / BINS_PER_DOUBLING)  # from the begin of a bin to its middle
LOGS = [math.log(max(seconds, EDGES[1] / 2) * HALF) for seconds in EDGES]
ENOUGH = 20  # tasks from which it is read how many last longer
TASKS_BEFORE_ANY = 2  # so many tasks are thought to have shown, before any has, that
FIRST_SPREAD = 0.5  # is the deviation of the logarithm of durations
STEPS_AT_MOST = 30  # of expectation and maximisation
AGAIN_ROUNDS = 3  # in which a task may begin again
NO_CHANCE = 1e-6  # part of the tasks that does not count


class TaskLifetimes:
    """What part of the tasks lasts longer than any time, from counts in bins (estimates/durations.py) of tasks that
    have ended, at least one, and of the ages of those that run.

    `longest`: seconds after which they are killed; `again`: the part of the attempts that are in vain. `mean`: seconds,
    the integral of S; `spread`: the square of the coefficient of variation, E[T^2] / mean^2 - 1 with E[T^2] the
    integral of 2 t S. Both take S as straight within a bin.

    S(t) is Kaplan and Meier's as far as more than ENOUGH tasks lasted until t. Where they thin out it would be the
    steps of a few tasks, and the end of a campaign hangs on just that tail. From there, t0, it goes on as the log-
    normal law that makes all that was seen likeliest, S(t) = S(t0) Q(t) / Q(t0). Run times are skewed and above 0; of
    the laws of two parameters that are so, this one is fitted easily while some tasks are unfinished. One task more, of
    which nothing is known, counts as lasting longer than all, so that S is above 0 where nothing was seen.
    """

    def __init__(
        self, ended: Sequence[float], running: Sequence[float] = (), longest: float = math.inf, again: float = 0.0
    ) -> None:
        self.again = again
        self._outlasting = _survival(ended, running, longest)
        self._beyond = [0.0] * len(EDGES)
        square = 0.0
        for place in range(LAST_BIN, -1, -1):
            here, there = EDGES[place], EDGES[place + 1]
            height = (self._outlasting[place] + self._outlasting[place + 1]) / 2
            self._beyond[place] = self._beyond[place + 1] + (there - here) * height
            square += (there**2 - here**2) * height
        self.mean = self._beyond[0]
        self.spread = max(square / self.mean**2 - 1.0, 0.0) if self.mean else 0.0

    def with_again(self, again: float) -> "TaskLifetimes":
        """The same tasks, if another part of the attempts is in vain: `again`, from 0 to 1."""
        other = copy(self)
        other.again = again
        return other

    def outlasting(self, seconds: float) -> float:
        """The part of the tasks that lasts longer, undisturbed: S(seconds)."""
        return _between(self._outlasting, seconds)

    def unfinished(self, seconds: float) -> float:
        """The part that is not done so long after its begin, as some begin again after a mean duration.

        S(t) + a S(t - m) + a^2 S(t - 2 m) + ..., a the part in vain and m the mean, in AGAIN_ROUNDS, at most 1: a sum
        of chances, a little more than the chance of any of them.
        """
        part, chance, left = self.outlasting(seconds), 1.0, seconds
        for _ in range(AGAIN_ROUNDS):
            chance, left = chance * self.again, left - self.mean
            if chance < NO_CHANCE or left <= 0:
                break
            part += chance * self.outlasting(left)
        return min(part, 1.0)

    def beyond(self, seconds: float) -> float:
        """Seconds that a task is unfinished after that, on the mean of all: the integral of `unfinished` from there."""
        total, chance, left = _between(self._beyond, seconds), 1.0, seconds
        for _ in range(AGAIN_ROUNDS):
            chance, left = chance * self.again, max(left - self.mean, 0.0)
            if chance < NO_CHANCE:
                break
            total += chance * _between(self._beyond, left)
        return total


def middle(counts: Sequence[float]) -> float:
    """The mean of the counted durations, each as long as its bin is on the mean."""
    return sum(number * (EDGES[place] + EDGES[place + 1]) / 2 for place, number in enumerate(counts)) / sum(counts)


def _survival(ended: Sequence[float], running: Sequence[float], longest: float) -> list[float]:
    """At each edge the part that lasts longer; one task more, of which nothing is known, lasts longer than all."""
    shares = outlasting(ended, running, unseen=1, enough=ENOUGH)
    last = len(shares) - 1
    mean, spread = _log_normal(ended, running)
    at_last = max(_upper(EDGES[last], mean, spread), 1e-12)
    shares += [shares[last] * min(_upper(seconds, mean, spread) / at_last, 1.0) for seconds in EDGES[last + 1 :]]
    return [share if seconds < longest else 0.0 for seconds, share in zip(EDGES, shares, strict=True)]


def _log_normal(ended: Sequence[float], running: Sequence[float]) -> tuple[float, float]:
    """Mean m and deviation s of the logarithm that make what was seen likeliest, by expectation and maximisation.

    Of a task that has run for e^c seconds the logarithm X is only known to be above c. With z = (c - m) / s and
    h = density(z) / (1 - distribution(z)) of the standard normal law, E[X] = m + s h and Var[X] = s^2 (1 + z h - h^2),
    so that E[(X - m')^2] = s^2 (1 + z h) - 2 (m' - m) s h + (m' - m)^2. These stand for what is not known, m' and s'
    are taken as if all were known, and so on until s rests (Dempster, Laird and Rubin, 1977). TASKS_BEFORE_ANY tasks
    with a deviation of FIRST_SPREAD are thought to have been seen before: two tasks that are alike are no certainty.
    """
    over = [(LOGS[place], number) for place, number in enumerate(ended) if number]
    outlasted = [(LOGS[place], number) for place, number in enumerate(running) if number]
    done, begun = sum(ended), sum(running)
    total = sum(number * at for at, number in over)
    mean, spread = total / done, FIRST_SPREAD
    for _ in range(STEPS_AT_MOST):
        hazards = [(at, number, _hazard((at - mean) / spread)) for at, number in outlasted]
        new = (total + sum(number * (mean + spread * hazard) for _, number, hazard in hazards)) / (done + begun)
        squares = sum(number * (at - new) ** 2 for at, number in over) + TASKS_BEFORE_ANY * FIRST_SPREAD**2
        squares += sum(
            number
            * (
                spread**2 * (1.0 + (at - mean) / spread * hazard)
                - 2 * (new - mean) * spread * hazard
                + (new - mean) ** 2
            )
            for at, number, hazard in hazards
        )
        before, mean, spread = spread, new, math.sqrt(max(squares, 1e-6) / (done + begun + TASKS_BEFORE_ANY))
        if abs(spread - before) < 0.003 * spread:
            break
    return mean, spread


def _hazard(place: float) -> float:
    """Of a standard normal variable: density over the part beyond, about `place` itself far out."""
    beyond = 0.5 * math.erfc(place / math.sqrt(2.0))
    return math.exp(-place * place / 2) / math.sqrt(2.0 * math.pi) / beyond if beyond > 1e-12 else place


def _upper(seconds: float, mean: float, spread: float) -> float:
    """The part of a log-normal variable beyond; `mean` and `spread` of its logarithm."""
    return 0.5 * math.erfc((math.log(max(seconds, 1e-9)) - mean) / spread / math.sqrt(2.0))


def _between(values: Sequence[float], seconds: float) -> float:
    """Of values at the edges of bins, on the straight line between two of them; 0 beyond the last."""
    if seconds >= EDGES[-1]:
        return 0.0
    place = 0 if seconds < EDGES[1] else min(1 + int(BINS_PER_DOUBLING * math.log2(seconds / EDGES[1])), LAST_BIN)
    part = (seconds - EDGES[place]) / (EDGES[place + 1] - EDGES[place])
    return values[place] + (values[place + 1] - values[place]) * min(max(part, 0.0), 1.0)
