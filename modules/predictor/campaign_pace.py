"""What is known of a campaign on all its clusters together, as far as its end depends on it; pure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cigri.estimates.durations import BINS_PER_DOUBLING, added, counted, edge, scaled
from cigri.flow.views.progress import Progress
from cigri.text.units import MINUTE
from modules.predictor.estimates import SHORTEST_WINDOW, estimate, mean, together
from modules.predictor.eta.last_task import RunningTasks
from modules.predictor.lifetimes import HALF, Lifetimes, middle

TRUSTED = 10  # tasks of a cluster by which its speed is half believed
HARDLY = 0.5  # attempts in vain
STEADY_TASKS = 2.0  # durations of a task after which the throughput is one
FIRST = 10  # of so many, before any has ended
MOST_IN_VAIN = 0.99  # of the attempts, or nothing would ever end


class CampaignOnCluster(NamedTuple):
    """`lifetimes` and `seconds` (of a task of now) at the mean speed; `waiting` tasks have not begun.

    `fastest`: the speed of the fastest cluster that runs some; `returns`: predictor/local_load.py. `free`: cores
    that it can have besides those that it has, of the mean speed.
    """

    whole: Progress
    lifetimes: Lifetimes
    running: Sequence[RunningTasks]
    waiting: int
    seconds: float
    fastest: float
    returns: float
    free: float = 0.0

    @property
    def work(self) -> float:
        """Core-seconds of the tasks that have not begun."""
        return self.waiting * self._with_waste(self.seconds)

    @property
    def cores(self) -> float:
        """That are at work for it, of the mean speed: its pace, from those that run and from the throughput.

        The shorter tasks are, the less it says how many run just now, and the sooner the throughput follows; and where
        others come and go, what was done in the last hour says more than the cores of now. Of a campaign that has begun
        in this hour it says the less, the more of the time passed while its first jobs were sent and had not ended: as
        long as that lasts, it is about to have the free cores, too.
        """
        now = sum(one.tasks * one.speed for one in self.running) * self.whole.width + self.free * self._starting
        share = self.seconds / (self.seconds + MINUTE) / (1.0 + self.returns)
        trusted = (1.0 - share) * (1.0 - self._starting)
        if not self.whole.window_tasks or not trusted:
            return now
        rate = self.whole.window_tasks / max(self.whole.window_seconds, SHORTEST_WINDOW)
        of_late = rate * self._with_waste(mean(self.whole) or 0.0)
        return now ** (1.0 - trusted) * of_late**trusted if now else of_late * trusted

    @property
    def _starting(self) -> float:
        """The part of the time since its first task ended in which it was not yet at its pace; 1 before."""
        whole = self.whole
        if whole.done > whole.window_tasks:
            return 0.0
        return min(STEADY_TASKS * self.seconds / max(whole.window_seconds, SHORTEST_WINDOW), 1.0) if whole.done else 1.0

    def _with_waste(self, seconds: float) -> float:
        """Core-seconds of a task that lasts so long, with what is lost in vain: half an attempt each time."""
        again = self.lifetimes.again
        return seconds * (1.0 + again / (1.0 - again) / 2) * self.whole.width


def standing(
    parts: Sequence[Progress],
    ages: Mapping[int, Sequence[int]],
    returns: float = 0.0,
    free: Mapping[int, float] = MappingProxyType({}),
) -> CampaignOnCluster | None:
    """None as long as nothing is known. By cluster, as far as known, `ages`: of running tasks, in bins
    (cigri/estimates/durations.py), and `free`: cores that it can have besides.
    """
    whole = together(parts)
    thought = estimate(whole)
    if thought is None or not (whole.done or whole.running):
        return None
    speeds = {part.cluster_id: _speed(part, whole) for part in parts}
    seen = added(scaled(part.durations, speeds[part.cluster_id]) for part in parts)
    ended = seen if any(seen) else counted([thought])  # all that ended may have been doubted since
    if _is_known(whole):
        ended, ages = scaled(ended, thought / middle(ended)), {}
    begun = added(scaled(ages.get(part.cluster_id, ()), speeds[part.cluster_id]) for part in parts)
    lifetimes = Lifetimes(ended, begun, whole.walltime or math.inf, _in_vain(whole))
    running = Counter[tuple[float, float | None]]()
    for part in parts:
        running.update(_at_work(part, ages.get(part.cluster_id, ()), speeds[part.cluster_id]))
    return CampaignOnCluster(
        whole,
        lifetimes,
        [RunningTasks(tasks, speed, age) for (speed, age), tasks in running.items()],
        max(whole.remaining + whole.doubted - whole.running, 0),
        max(lifetimes.mean * thought / middle(ended), 1e-3),
        max((speed for speed, _ in running), default=1.0),
        returns,
        sum(cores * speeds.get(cluster_id, 1.0) for cluster_id, cores in free.items()),
    )


def _is_known(whole: Progress) -> bool:
    """Most of what remains ran before: the longest go first, so that those that have ended, or run, tell too much."""
    return 2 * whole.known > whole.remaining


def _in_vain(whole: Progress) -> float:
    """The part of the attempts after which a task has to be done again."""
    return min((whole.again + HARDLY) / (whole.done + whole.again + FIRST), MOST_IN_VAIN)


def _speed(part: Progress, whole: Progress) -> float:
    """How many times as fast as on the mean a task is there, in whole bins of durations."""
    here, everywhere = mean(part), mean(whole)
    if not here or not everywhere:
        return 1.0
    trusted = part.done / (part.done + TRUSTED)
    return math.exp2(round(BINS_PER_DOUBLING * math.log2(everywhere / here) * trusted) / BINS_PER_DOUBLING)


def _at_work(part: Progress, ages: Sequence[int], speed: float) -> dict[tuple[float, float | None], int]:
    """How many tasks run at this speed since when."""
    known = {(speed, edge(place) * HALF): number for place, number in enumerate(ages) if number}
    unknown = part.running - sum(known.values())
    return {**known, (speed, None): unknown} if unknown > 0 else {**known}
