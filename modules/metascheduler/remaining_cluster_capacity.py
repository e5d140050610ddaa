"""What is left in one cycle of one cluster: cores, and places in its queue; `take` says what was given away.

Cores are counted for new jobs of any campaign, w cores or 1 / ratio each. What waits there already goes before.
Long form: docs/explanation/scheduling.md#how-much.
"""

from collections.abc import Sequence
from math import ceil

from cigri.estimates.clamping import LARGEST_INTEGER
from cigri.flow.views.cluster_demands import ClusterDemand
from cigri.flow.views.schedulable_clusters import SchedulableCluster

STARTS = 2.0  # times what starts in a cycle may wait, so that no core idles where many jobs end between two cycles
ALMOST_A_CORE = 1e-9  # 49 cores by 49 jobs a core are one job, not 0.9999


class RemainingClusterCapacity:
    """Cores that a new job could have at once (`idle`), and jobs that wait `queued_behind` those that can start.

    `starting`: of the jobs that wait, those that find a free core. `queue_places`: jobs that may still be sent,
    `max_waiting` less those that wait. `most_queued`: jobs that may wait of what asks for the same, the cluster's
    n_max_queued_jobs, or STARTS times what it was seen to start from one look to the next if that is more. `keep`: jobs
    to keep waiting, as configured; `longest_keep`: the most that any campaign's forecast says. Under stress these
    counts are less.
    """

    def __init__(self, room: SchedulableCluster) -> None:
        self.name, self.total, self.is_wide = room.name, room.total, room.is_wide
        self.running = room.running
        self.idle = float(max(0, room.free - room.waiting_cores))
        self.queued_behind = _behind(room)
        self.pace, self.stress = room.pace, room.stress
        self.max_waiting = self.slowed(room.config.max_waiting) or 1
        self.queue_places = self.max_waiting - room.waiting
        self.given = 0
        self.starting = room.waiting - self.queued_behind
        self._behind_of = {request: min(jobs, self.queued_behind) for request, jobs in room.queued_by_request.items()}
        self.keep = self.longest_keep = self.slowed(room.config.keep_waiting)
        starts = min(float(LARGEST_INTEGER), max(0.0, STARTS * room.expected_starts))
        most_queued = max(room.config.n_max_queued_jobs, ceil(starts))
        self.most_queued = self.slowed(most_queued) or 1
        self.has_send_forecast = False

    @property
    def is_open(self) -> bool:
        """May it take any job that is no test?"""
        return self.queue_places > 0 and (
            self.has_send_forecast or self.idle > ALMOST_A_CORE or self.longest_keep > self.queued_behind
        )

    def apply_forecast(self, want: ClusterDemand) -> None:
        """What is forecast may open a cluster that is full as it is configured."""
        self.has_send_forecast |= want.send_now is not None
        self.longest_keep = max(self.longest_keep, self.slowed(want.keep_waiting or 0))

    def room(self, want: ClusterDemand, given: int) -> int:
        """Jobs that can start at once, and those that are kept waiting behind them; or what is forecast to be sent."""
        if want.send_now is not None:
            return self.slowed(want.send_now) - given
        keep = self.keep if want.keep_waiting is None else self.slowed(want.keep_waiting)
        return self.startable(want.ratio) + max(0, keep - self.queued_behind)

    def behind_of(self, asked: Sequence[int]) -> int:
        """Jobs of all campaigns that ask for this and wait for cores, as far as they make up those that wait here."""
        return sum([self._behind_of.get(request, 0) for request in asked])

    def most_behind(self, asked: Sequence[int]) -> int:
        """Jobs of all campaigns that ask for this and may wait for cores."""
        return min(self.most_queued * len(asked), self.max_waiting)

    def places(self, asked: Sequence[int]) -> int:
        """Jobs that ask for this and may come to wait for cores, besides those that do."""
        most, behind = self.most_queued, self._behind_of
        return sum([max(0, most - behind.get(request, 0)) for request in asked])

    def keep_waiting(self, asked: Sequence[int], jobs: int) -> None:
        """So many jobs more wait for cores; which of its buckets they are of is its scheduler's choice later on."""
        for request in asked:
            taken = jobs if request == asked[-1] else min(jobs, self.places((request,)))
            self._behind_of[request] = self._behind_of.get(request, 0) + taken
            jobs -= taken

    def slowed(self, number: int) -> int:
        """So many jobs, or the part of them that the cluster may be asked for under stress (`pace`, at most 1)."""
        return number if self.pace >= 1.0 else int(number * self.pace)

    def queue_seconds(self, mean: float) -> float:
        """Seconds until one more job that waits has a core: (behind + 1) mean / running.

        If `running` jobs of ours last `mean` seconds each and are at any point of that, one ends every mean / running
        seconds, and behind + 1 have to. Cores that others give back are not reckoned with.
        """
        return (self.queued_behind + 1) * mean / max(1, self.running)

    def take(self, jobs: int, ratio: float) -> None:
        """These jobs are given away, at `ratio` jobs per core: as many as can start do, the others wait behind."""
        at_once = min(jobs, self.startable(ratio))
        self.idle = max(0.0, self.idle - at_once / ratio)
        self.queued_behind += jobs - at_once
        self.queue_places -= jobs
        self.given += jobs

    def startable(self, ratio: float) -> int:
        """Jobs that could start at once, at `ratio` jobs per core: whole ones only."""
        return int(self.idle * ratio + ALMOST_A_CORE)


def _behind(room: SchedulableCluster) -> int:
    """Of the waiting jobs, those that find no free core, if all are of the mean width.

    (cores that they ask for - free cores) / (cores that they ask for / jobs), rounded up.
    """
    excess = room.waiting_cores - max(0, room.free)
    if excess <= 0:
        return 0
    return min(room.waiting, -(-excess * room.waiting // room.waiting_cores))
