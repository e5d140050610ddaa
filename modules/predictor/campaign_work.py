"""What is known of a campaign on all its clusters together, as far as its end depends on it; pure.

Clusters count as one by their speeds: a task that takes d seconds on a cluster of speed v takes d v at the mean speed.
Long form: docs/explanation/prediction.md#when-it-ends.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cigri.estimates.durations import BINS_PER_DOUBLING, added, counted, edge, scaled
from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.formats.units import MINUTE
from modules.predictor.campaign_estimates import SHORTEST_WINDOW, estimate, mean, together
from modules.predictor.eta.last_task import RunningTasks
from modules.predictor.lifetimes import HALF, TaskLifetimes, middle

TRUSTED = 10  # tasks done on a cluster by which its speed is half believed
VAIN_BEFORE_ANY = 0.5  # attempts in vain that are thought to have been seen,
ATTEMPTS_BEFORE_ANY = 10  # of so many, before any has ended
STEADY_TASKS = 2.0  # durations of a task after which the throughput is one
MOST_IN_VAIN = 0.99  # of the attempts, or nothing would ever end


class CampaignWorkModel(NamedTuple):
    """A campaign on all its clusters: `lifetimes` and `seconds` (of a task of now) at the mean speed.

    `waiting` tasks have not begun. `fastest`: the speed of the fastest cluster that runs some; `returns`: jumps of
    others' load to and fro (predictor/local_load.py). `free`: cores that it can have besides those that it has, of the
    mean speed.
    """

    whole: CampaignProgress
    lifetimes: TaskLifetimes
    running: Sequence[RunningTasks]
    waiting: int
    seconds: float
    fastest: float
    returns: float
    free: float = 0.0

    @property
    def work(self) -> float:
        """Core-seconds at the mean speed that the tasks which have not begun will take, attempts in vain included."""
        return self.waiting * self._with_waste(self.seconds)

    @property
    def cores(self) -> float:
        """That are at work for it, of the mean speed: its pace, n^(1 - t) l^t of two estimates of the same.

        n: cores that run its tasks now, and the free ones that it is about to have as long as it is starting. l: tasks
        per second in the window, times the core-seconds of one (Little's law). The weight is t = (1 - s) (1 - starting)
        with s = d / (d + 60) / (1 + returns), d the seconds of a task: the shorter tasks are, the less it says how many
        run just now, and the sooner the throughput follows; and where others come and go, what was done in the window
        says more than the cores of now. Of a campaign that has begun in this window it says the less, the more of it
        passed while the first jobs were sent and had not ended. The mean is geometric: half and twice the pace
        are equally far off. No law says the weight; it is a choice.
        """
        now = sum(tasks.tasks * tasks.speed for tasks in self.running) * self.whole.width + self.free * self._starting
        share = self.seconds / (self.seconds + MINUTE) / (1.0 + self.returns)
        trusted = (1.0 - share) * (1.0 - self._starting)
        if not self.whole.window_tasks or not trusted:
            return now
        rate = self.whole.window_tasks / max(self.whole.window_seconds, SHORTEST_WINDOW)
        of_late = rate * self._with_waste(mean(self.whole) or 0.0)
        return now ** (1.0 - trusted) * of_late**trusted if now else of_late * trusted

    @property
    def _starting(self) -> float:
        """The part of the time since its first task ended in which it was not yet at its pace; 1 before.

        That lasts for STEADY_TASKS durations; 0 as soon as any of its tasks ended before the window.
        """
        whole = self.whole
        if whole.done > whole.window_tasks:
            return 0.0
        return min(STEADY_TASKS * self.seconds / max(whole.window_seconds, SHORTEST_WINDOW), 1.0) if whole.done else 1.0

    def _with_waste(self, seconds: float) -> float:
        """Core-seconds of a task that lasts so long, with what is lost in vain: half an attempt each time.

        If each attempt is in vain with probability a, whatever happened before, a / (1 - a) are for each that succeeds
        (geometric); each ends anywhere in its course, so that half of it is lost on the mean.
        """
        again = self.lifetimes.again
        return seconds * (1.0 + again / (1.0 - again) / 2) * self.whole.width


def build_work_model(
    parts: Sequence[CampaignProgress],
    ages: Mapping[int, Sequence[int]],
    returns: float = 0.0,
    free: Mapping[int, float] = MappingProxyType({}),
) -> CampaignWorkModel | None:
    """None as long as nothing is known. By cluster, as far as known, `ages`: of running tasks, in bins
    (cigri/estimates/durations.py), and `free`: cores that it can have besides.

    `seconds` of a task of now is the estimate of those to come, times (mean lifetime) / (mean of the ended): those that
    have ended first are the short ones, and what the running ones show beyond them counts for those to come as well.
    """
    whole = together(parts)
    thought = estimate(whole)
    if thought is None or not (whole.done or whole.running):
        return None
    speeds = {part.cluster_id: _speed(part, whole) for part in parts}
    seen = added(scaled(part.durations, speeds[part.cluster_id]) for part in parts)
    ended = seen if any(seen) else counted([thought])  # all that ended may have been doubted since
    if _most_ran_before(whole):
        ended, ages = scaled(ended, thought / middle(ended)), {}
    begun = added(scaled(ages.get(part.cluster_id, ()), speeds[part.cluster_id]) for part in parts)
    lifetimes = TaskLifetimes(ended, begun, whole.walltime or math.inf, _in_vain(whole))
    running = Counter[tuple[float, float | None]]()
    for part in parts:
        running.update(_at_work(part, ages.get(part.cluster_id, ()), speeds[part.cluster_id]))
    return CampaignWorkModel(
        whole,
        lifetimes,
        [RunningTasks(tasks, speed, age) for (speed, age), tasks in running.items()],
        max(whole.remaining + whole.doubted - whole.running, 0),
        max(lifetimes.mean * thought / middle(ended), 1e-3),
        max((speed for speed, _ in running), default=1.0),
        returns,
        sum(cores * speeds.get(cluster_id, 1.0) for cluster_id, cores in free.items()),
    )


def _most_ran_before(whole: CampaignProgress) -> bool:
    """Of what remains. As the longest go first, those that have ended, or run, last longer than those to come."""
    return 2 * whole.known > whole.remaining


def _in_vain(whole: CampaignProgress) -> float:
    """The part of the attempts after which a task has to be done again: (in vain + 1/2) / (all + 10).

    It is the mean of a probability by Bayes, where a twentieth of ten attempts was in vain before any was seen.
    """
    seen = whole.done + whole.again
    return min((whole.again + VAIN_BEFORE_ANY) / (seen + ATTEMPTS_BEFORE_ANY), MOST_IN_VAIN)


def _speed(part: CampaignProgress, whole: CampaignProgress) -> float:
    """How many times as fast as on the mean a task is there, in whole bins of durations (a factor of 2^(1/4)).

    (mean everywhere / mean there)^(n / (n + TRUSTED)) of n tasks done there: the fewer, the nearer to 1. It is thought
    that clusters get tasks alike; where long ones go to fast clusters, these seem slower than they are.
    """
    here, everywhere = mean(part), mean(whole)
    if not here or not everywhere:
        return 1.0
    trusted = part.done / (part.done + TRUSTED)
    return math.exp2(round(BINS_PER_DOUBLING * math.log2(everywhere / here) * trusted) / BINS_PER_DOUBLING)


def _at_work(part: CampaignProgress, ages: Sequence[int], speed: float) -> dict[tuple[float, float | None], int]:
    """How many tasks run at this speed since so many seconds (the middle of a bin of ages); None: nobody looked."""
    of_age = {(speed, edge(place) * HALF): number for place, number in enumerate(ages) if number}
    of_no_age = part.running - sum(of_age.values())
    return {**of_age, (speed, None): of_no_age} if of_no_age > 0 else {**of_age}
