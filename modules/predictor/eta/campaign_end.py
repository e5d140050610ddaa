"""When a campaign ends, and in which interval that lies with a probability of 90 %; pure.

Long form: docs/explanation/prediction.md#when-it-ends. How many intervals held the true end, and how wide they were,
the laboratory measures (`calibration`, `interval_width`: docs/explanation/laboratory.md).
"""

import math
from typing import NamedTuple

from modules.predictor.campaign_work import CampaignWorkModel
from modules.predictor.eta.last_task import RunningTasks, TaskBag, last_end
from modules.predictor.local_load import JUMP, LocalLoadModel, reached

DEVIATIONS = 1.645  # of a normal variable, on each side of an interval that holds it with a probability of 90 %
TOGETHER = 3.0  # kills come together: what is late is reckoned with so many times as many, what is soon with none
LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95
FEW_TASKS = 10  # attempts, of which no part is taken
MOST_RETURNS = 0.9  # of the attempts in vain, or nothing would ever end
WIDER = 1.2  # than these figures say: 9 of 10 ends did not lie within in the laboratory, as more happens than these
LOOSEST = 20.0  # the logarithm of a factor: no longer an estimate, and still a number
CHANGING = 0.15  # relative deviation of the pace, whatever was seen; where others come and go, a jump of theirs, too


class EndInterval(NamedTuple):
    """Seconds from now: the expected end, and what it lies between with a probability of 90 %."""

    low: float
    expected: float
    high: float


def interval(standing: CampaignWorkModel, begun: float, outlook: LocalLoadModel) -> EndInterval:
    """`begun`: seconds until the last task begins, if others leave us the cores of now.

    The expected end is the median of the end of the last task, if the last begins at the median of its begin. Four
    things may come otherwise, each by itself: tasks and pace are not what was seen of them (a factor, log-normal),
    other people come or go, the last tasks are long or short, and what is doubted need not be done again. Of each it is
    reckoned how far it moves the end at its own bound of 5 % or 95 %; the root of the sum of the squares of these is
    the bound of all, as it is where each is normal, and WIDER times that is told.
    """
    soon, middle, late = (reached(begun, outlook, chance) for chance in (LOW, MIDDLE, HIGH))
    factor = math.exp(min(DEVIATIONS * _relative(standing), LOOSEST))
    chances = ((LOW, 0.0), (MIDDLE, standing.lifetimes.again), (HIGH, min(_in_vain(standing) * TOGETHER, MOST_RETURNS)))
    early, expected, last = (last_end(_bag(standing, middle, again), chance) for chance, again in chances)
    doubts = middle * min(standing.whole.doubted / max(standing.waiting, 1), 1.0)
    low = expected - WIDER * math.hypot(middle - soon, middle - middle / factor, expected - early, doubts)
    high = expected + WIDER * math.hypot(late - middle, middle * factor - middle, last - expected)
    return EndInterval(max(low, 0.0), expected, high)


def _bag(standing: CampaignWorkModel, starting: float, again: float) -> TaskBag:
    """Where the last tasks are begun twice, it costs no time when one of both is in vain."""
    running = standing.running or [RunningTasks(1)]
    if standing.whole.replicates:
        return TaskBag(standing.lifetimes.with_again(0.0), running, starting, standing.fastest)
    return TaskBag(standing.lifetimes.with_again(again), running, starting)


def _relative(standing: CampaignWorkModel) -> float:
    """Deviation of the time until the last task begins, as part of it: of its logarithm, as a factor.

    The variances of four things that are thought to be independent: the pace changes (0.15^2, whatever was seen); where
    others come and go it may jump (1/6, for one jump to and fro or more); what was seen are n = done tasks, of which
    the number in a time (1 / n, as Poisson has it) and the mean duration (c^2 / n) are known as well as of a sample;
    and the m waiting ones are another sample (c^2 / m). c^2: the square of the coefficient of variation of durations.
    """
    spread = standing.lifetimes.spread
    sampled = (1.0 + spread) / max(standing.whole.done, 1) + spread / max(standing.waiting, 1)
    return math.sqrt(CHANGING**2 + JUMP * min(standing.returns, 1.0) + sampled)


def _in_vain(standing: CampaignWorkModel) -> float:
    """The part of the attempts that were in vain, if those with doubted results were, too; `again` at the least."""
    whole = standing.whole
    lost = whole.again + whole.doubted
    return max(standing.lifetimes.again, lost / max(whole.done + lost, FEW_TASKS))
