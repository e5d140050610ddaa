"""When attempts at the tasks of a campaign are expected to end, on each of its clusters; pure.

A task that ran before lasts as long as then. Of any other, an attempt that has run for a while without end lasts as
long as those tasks did, on the mean, that outlasted it. Those that run still count, too (Kaplan and Meier, 1958), and
durations of all clusters, each as long as it would have been elsewhere by the speeds there. One that has outlasted all
that have ended is perhaps in the wrong place: it is expected to last as long again as it has, and elsewhere no longer
than the longest. So long, too, is one expected to wait that waits in a queue.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, inf

from cigri.estimates.clamping import within
from cigri.estimates.completion import expected_seconds, longest_within
from cigri.estimates.durations import added, longest, mean_beyond, scaled, with_running
from cigri.estimates.speeds import FEWEST_FOR_SPEED, CompletedWork, known_speeds
from cigri.flow.views.job_sizing import DurationStatistics
from cigri.flow.views.stragglers import Straggler
from modules.campaign_schedulers.jobs.clamped_inputs import plausible_ground, plausible_try

LATE_FACTOR = 1.25  # times what it took before; a task that still runs then is another one


class CompletionModel:
    """How long tasks last and jobs wait on each cluster of a campaign, as measured; `tries` are what runs so far."""

    def __init__(self, grounds: Sequence[DurationStatistics], tries: Sequence[Straggler] = ()) -> None:
        grounds, tries = [*map(plausible_ground, grounds)], [*map(plausible_try, tries)]
        self._grounds = {ground.cluster_id: ground for ground in grounds}
        measured = {ground.cluster_id: ground for ground in grounds if ground.done >= FEWEST_FOR_SPEED}
        running: dict[int, list[float]] = defaultdict(list)
        for live in tries:
            if live.run_seconds and not live.tasks_ahead and not live.is_cluster_unreachable:
                running[live.cluster_id].append(live.run_seconds)
        counts = {id: with_running(ground.durations, running[id]) for id, ground in measured.items()}
        means = {id: mean_beyond(durations, 0.0) or 1.0 for id, durations in counts.items()}
        slowest = max(means.values(), default=1.0)
        self._speeds = _known_speeds(grounds) or {id: slowest / mean for id, mean in means.items()}
        self._counts = added(scaled(counts[id], self.speed(id)) for id in measured)
        self._longest = longest(added(scaled(measured[id].durations, self.speed(id)) for id in measured))
        self.is_known = bool(measured)

    def work(self, cluster_id: int, ran: float, expected: float | None = None) -> float:
        """Seconds that a task lasts at speed 1, if it has run for so long on this cluster; `expected`: as before."""
        ran = within(ran)
        if self._is_as_before(cluster_id, ran, expected):
            return max(expected or 0.0, ran * self.speed(cluster_id))
        if self._has_outlasted_all(cluster_id, ran):
            return self._longest
        return mean_beyond(self._counts, ran * self.speed(cluster_id)) or self._longest

    def seconds(self, cluster_id: int, work: float) -> float:
        """Seconds that a task of this work (seconds at speed 1) runs on a cluster, if it is not killed."""
        return within(work / self.speed(cluster_id))

    def completion(self, cluster_id: int, work: float) -> float:
        """Seconds from being sent to the end, for a task of this work: queue, run, and runs anew after kills."""
        ground = self._grounds[cluster_id]
        return expected_seconds(self.seconds(cluster_id, work), ground.delay, ground.hazard * ground.width)

    def delay(self, cluster_id: int) -> float:
        """Seconds in the queue, in which an attempt costs nothing."""
        return self._grounds[cluster_id].delay

    def cycle(self, cluster_id: int) -> float:
        """Seconds between two looks at the cluster."""
        return self._grounds[cluster_id].cycle

    @property
    def used(self) -> float:
        """Core-seconds of all successful tasks."""
        return sum(ground.duration_sum * ground.width for ground in self._grounds.values())

    def fits(self, cluster_id: int, work: float) -> bool:
        """Does it end before the walltime?"""
        return self.seconds(cluster_id, work) < self._grounds[cluster_id].walltime

    def width(self, cluster_id: int) -> int:
        """Cores of a job there."""
        return self._grounds[cluster_id].width

    def remaining(self, live: Straggler) -> float:
        """Seconds until this attempt ends with success, if nothing else is done; inf: its cluster is away.

        Tasks `ahead` in its job come first. What waits is expected to wait as long again as it has, or the usual delay.
        What runs has the rest of its work to do; with the chance that it is killed meanwhile, 1 - e^(-h left) with h
        kills a second, it begins anew.
        """
        if live.is_cluster_unreachable:
            return inf
        live = plausible_try(live)
        ground = self._grounds[live.cluster_id]
        before = live.tasks_ahead * self.seconds(live.cluster_id, self.work(live.cluster_id, 0.0, live.expected))
        if live.run_seconds is None:
            wait = max(live.wait_seconds or 0.0, ground.delay)
            work = self.work(live.cluster_id, 0.0, live.expected)
            return before + wait + self.completion(live.cluster_id, work) - ground.delay
        work = self.work(live.cluster_id, live.run_seconds, live.expected)
        left = before + max(0.0, self.seconds(live.cluster_id, work) - live.run_seconds)
        is_as_before = self._is_as_before(live.cluster_id, live.run_seconds, live.expected)
        if not is_as_before and self._has_outlasted_all(live.cluster_id, live.run_seconds):
            left = before + live.run_seconds
        if live.run_seconds + left > ground.walltime:  # it will be killed there, and begin anew
            left = max(0.0, ground.walltime - live.run_seconds) + self.completion(live.cluster_id, work)
        killed = 1 - exp(-min(50.0, ground.hazard * ground.width * left))
        return left + killed * self.completion(live.cluster_id, work)

    def longest_within(self, cluster_id: int, seconds: float) -> float:
        """The longest task, in seconds at speed 1, that is expected to end within so many seconds of its sending."""
        ground = self._grounds[cluster_id]
        within = min(longest_within(seconds, ground.delay, ground.hazard * ground.width), ground.walltime)
        return within * self.speed(cluster_id)

    def _is_as_before(self, cluster_id: int, ran: float, expected: float | None) -> bool:
        return expected is not None and ran * self.speed(cluster_id) <= LATE_FACTOR * expected

    def _has_outlasted_all(self, cluster_id: int, ran: float) -> bool:
        return ran * self.speed(cluster_id) >= self._longest

    def speed(self, cluster_id: int) -> float:
        """Of a cluster that is not known, as the fastest known one."""
        return self._speeds.get(cluster_id, max(self._speeds.values(), default=1.0))


def _known_speeds(grounds: Sequence[DurationStatistics]) -> dict[int, float]:
    works = {
        ground.cluster_id: CompletedWork(ground.done, ground.duration_sum, ground.known, ground.expected)
        for ground in grounds
    }
    return known_speeds(works, {ground.cluster_id: ground.speed for ground in grounds if ground.speed is not None})
