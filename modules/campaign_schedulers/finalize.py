"""The end of a campaign: what remains is begun a second time elsewhere, where nobody else has a use for the cores.

An attempt that has run for a while without end lasts as long as those tasks did, on the mean, that outlasted it. Those
that run still count, too (Kaplan and Meier, 1958), and durations of all clusters, each as long as it would have been
elsewhere by the means there. One that has outlasted all that have ended is perhaps in the wrong place: it is expected
to last as long again as it has, and elsewhere no longer than the longest. So long, too, is one expected to wait that
waits in a queue. A replica begins anew, on the cluster where it is expected to end first. What is gained is the
difference; the largest gain comes first.

Replicas burn core-seconds: from its start each costs its cores, until the first of the attempts ends. All together may
cost a part of the core-seconds that the campaign has used. (Replication in a work queue: WQR, da Silva, Cirne and
Brasileiro, 2003.)
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from math import exp, inf
from typing import NamedTuple

from cigri.completion import expected_seconds
from cigri.durations import added, longest, mean_beyond, scaled, with_running
from cigri.flow.runner_to_campaign_schedulers import LiveTry
from cigri.flow.updator_to_campaign_schedulers import Ground
from modules.campaign_schedulers import Assignment, Place
from modules.campaign_schedulers.workqueue import choose as workqueue

FEWEST = 3  # successful tasks on a cluster that tell how fast it is


class Replica(NamedTuple):
    """One more attempt at a task, on this cluster: expected gain in seconds, and cost in core-seconds."""

    task_id: int
    cluster_id: int
    gain: float
    cost: float


def choose(waiting: int, places: Sequence[Place]) -> Iterator[Assignment]:
    """What waits goes before replicas: as in the work queue, where tasks that were tried before come first."""
    yield from workqueue(waiting, places)


class Outlook:
    """How long tasks last and jobs wait on each cluster of a campaign, as measured; `tries` are what runs so far."""

    def __init__(self, grounds: Sequence[Ground], tries: Sequence[LiveTry] = ()) -> None:
        self._grounds = {ground.cluster_id: ground for ground in grounds}
        known = {ground.cluster_id: ground for ground in grounds if ground.done >= FEWEST}
        running: dict[int, list[float]] = defaultdict(list)
        for one in tries:
            if one.ran and not one.ahead and not one.is_away:
                running[one.cluster_id].append(one.ran)
        counts = {id: with_running(ground.durations, running[id]) for id, ground in known.items()}
        means = {id: mean_beyond(some, 0.0) or 1.0 for id, some in counts.items()}
        slowest = max(means.values(), default=1.0)
        self._speeds = {id: slowest / mean for id, mean in means.items()}
        self._counts = added(scaled(counts[id], speed) for id, speed in self._speeds.items())
        self._longest = longest(added(scaled(known[id].durations, speed) for id, speed in self._speeds.items()))
        self.is_known = bool(known)

    def work(self, cluster_id: int, ran: float) -> float:
        """Seconds that a task lasts where tasks last longest, if it has run for so long on this cluster."""
        if self._has_outlasted_all(cluster_id, ran):
            return self._longest
        return mean_beyond(self._counts, ran * self._speed(cluster_id)) or self._longest

    def seconds(self, cluster_id: int, work: float) -> float:
        """That work on a cluster, undisturbed."""
        return work / self._speed(cluster_id)

    def completion(self, cluster_id: int, work: float) -> float:
        """From being sent to the end."""
        ground = self._grounds[cluster_id]
        return expected_seconds(self.seconds(cluster_id, work), ground.delay, ground.hazard * ground.width)

    def delay(self, cluster_id: int) -> float:
        """Seconds in the queue, in which an attempt costs nothing."""
        return self._grounds[cluster_id].delay

    @property
    def used(self) -> float:
        """Core-seconds of all successful tasks."""
        return sum(ground.seconds * ground.width for ground in self._grounds.values())

    def fits(self, cluster_id: int, work: float) -> bool:
        """Does it end before the walltime?"""
        return self.seconds(cluster_id, work) < self._grounds[cluster_id].walltime

    def width(self, cluster_id: int) -> int:
        return self._grounds[cluster_id].width

    def remaining(self, one: LiveTry) -> float:
        """Seconds until this attempt ends with success, if nothing else is done."""
        if one.is_away:
            return inf
        ground = self._grounds[one.cluster_id]
        before = one.ahead * self.seconds(one.cluster_id, self.work(one.cluster_id, 0.0))
        if one.ran is None:
            wait = max(one.waited or 0.0, ground.delay)
            return before + wait + self.completion(one.cluster_id, self.work(one.cluster_id, 0.0)) - ground.delay
        work = self.work(one.cluster_id, one.ran)
        left = before + max(0.0, self.seconds(one.cluster_id, work) - one.ran)
        if self._has_outlasted_all(one.cluster_id, one.ran):
            left = before + one.ran
        if one.ran + left > ground.walltime:  # it will be killed there, and begin anew
            left = max(0.0, ground.walltime - one.ran) + self.completion(one.cluster_id, work)
        killed = 1 - exp(-min(50.0, ground.hazard * ground.width * left))
        return left + killed * self.completion(one.cluster_id, work)

    def _has_outlasted_all(self, cluster_id: int, ran: float) -> bool:
        return ran * self._speed(cluster_id) >= self._longest

    def _speed(self, cluster_id: int) -> float:
        """Of a cluster that is not known, as the fastest known one."""
        return self._speeds.get(cluster_id, max(self._speeds.values(), default=1.0))


def replicate(
    tries: Sequence[LiveTry], outlook: Outlook, places: Mapping[int, int], most: int, budget: float
) -> list[Replica]:
    """The replicas to begin now, largest gain first; `places` are free jobs by cluster.

    No task gets more than `most` replicas at a time, nor two attempts on one cluster. The cost of those begun is never
    more than `budget` core-seconds, less what those that run are still expected to cost.
    """
    if not outlook.is_known:
        return []
    tasks: dict[int, list[LiveTry]] = defaultdict(list)
    for one in tries:
        tasks[one.task_id].append(one)
    budget -= sum(_committed(mine, outlook) for mine in tasks.values())
    left, order = dict(places), count()
    line = []
    for mine in tasks.values():
        if len(mine) <= most and (best := _best(mine, outlook, left)):
            line.append((-best.gain, next(order), best, mine))
    heapify(line)
    chosen = []
    while line and budget > 0:
        _, _, replica, mine = heappop(line)
        if replica.cost > budget:
            continue
        if left[replica.cluster_id] <= 0:
            if best := _best(mine, outlook, left):
                heappush(line, (-best.gain, next(order), best, mine))
            continue
        left[replica.cluster_id] -= 1
        budget -= replica.cost
        chosen.append(replica)
    return chosen


def _best(mine: Sequence[LiveTry], outlook: Outlook, places: Mapping[int, int]) -> Replica | None:
    """Where one more attempt is expected to end first, if that is before each of those that live; all are sent."""
    if any(one.waited is None for one in mine):
        return None
    there = {one.cluster_id for one in mine}
    work = max(outlook.work(one.cluster_id, one.ran or 0.0) for one in mine)
    free = [id for id, jobs in places.items() if jobs > 0 and id not in there]
    ends = [(outlook.completion(cluster_id, work), cluster_id) for cluster_id in free if outlook.fits(cluster_id, work)]
    if not ends:
        return None
    end, cluster_id = min(ends)
    gain = min(outlook.remaining(one) for one in mine) - end
    if gain <= 0:
        return None
    return Replica(mine[0].task_id, cluster_id, gain, (end - outlook.delay(cluster_id)) * outlook.width(cluster_id))


def _committed(mine: Sequence[LiveTry], outlook: Outlook) -> float:
    """What the replicas among the attempts at a task are expected to cost from now on."""
    replicas = [one for one in mine if one.is_replica]
    if not replicas or len(mine) == 1:
        return 0.0
    ways = [outlook.remaining(one) for one in mine if not one.is_away]
    return min(ways, default=0.0) * sum(outlook.width(one.cluster_id) for one in replicas)
