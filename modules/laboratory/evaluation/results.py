"""What a simulation found: the figures that its report shows. Times are seconds of virtual time."""

from collections.abc import Sequence
from heapq import merge
from typing import NamedTuple


class SeriesPoint(NamedTuple):
    """A figure that has this value from here on, until the next point."""

    at: float
    value: float


class ClusterResults(NamedTuple):
    """One cluster, or all of them together. Work is in core-seconds.

    `harvestable`: cores that were up, idle of local jobs, while there were tasks for them; `harvested`: those of them
    that our jobs held. `avoidable` and `unavoidable`: what killed jobs had done and had to be done again; avoidable is
    what a better decision would have saved (laboratory/evaluation/avoidable_losses.py). `local_delay` is the sum of the
    seconds that local jobs started later than they would have without the grid, `local_seconds` that of their run
    times. `waiting`: jobs of ours in the queue. `lost`: work of attempts that lost against another one at the same
    task, which is not wasted by a kill.
    """

    name: str
    cores: int
    harvestable: float
    harvested: float
    avoidable: float
    unavoidable: float
    local_jobs: int
    local_seconds: float
    local_delay: float
    commands: int
    waiting: tuple[SeriesPoint, ...]
    lost: float = 0.0

    @property
    def harvested_share(self) -> float | None:
        """Of what could be harvested, the part that was, 1 at best; None: nothing could be."""
        return ratio(self.harvested, self.harvestable)

    @property
    def wasted(self) -> float:
        """Core-seconds of work that killed jobs had done, avoidable or not."""
        return self.avoidable + self.unavoidable

    @property
    def avoidable_share(self) -> float | None:
        """Of what was harvested, the work that a better decision would have saved; None: nothing was harvested."""
        return ratio(self.avoidable, self.harvested)

    @property
    def unavoidable_share(self) -> float | None:
        """Of what was harvested, the work that was lost whoever decides."""
        return ratio(self.unavoidable, self.harvested)

    @property
    def lost_share(self) -> float | None:
        """Of what was harvested, the work of attempts that lost against another one."""
        return ratio(self.lost, self.harvested)

    @property
    def delay_share(self) -> float | None:
        """The delay of local jobs by the grid as a part of their run times; None: there were none."""
        return ratio(self.local_delay, self.local_seconds)

    @property
    def mean_delay(self) -> float | None:
        """Seconds that a local job started later; None: there were none."""
        return ratio(self.local_delay, self.local_jobs)


class CampaignResults(NamedTuple):
    """`makespan` from submission to the end of the last task, None if that was not seen; `bound`: at best, alone."""

    name: str
    user: str
    makespan: float | None
    bound: float

    @property
    def stretch(self) -> float | None:
        """Times the bound that its makespan was; None: its end was not seen."""
        return None if self.makespan is None else ratio(self.makespan, self.bound)


class UserResults(NamedTuple):
    """`slowdown`: the mean bounded slowdown of the tasks that ended."""

    name: str
    tasks: int
    slowdown: float


class CampaignTestLatencies(NamedTuple):
    """Seconds from the submission of a test campaign to the start of its last task, over so many campaigns."""

    campaigns: int
    median: float
    ninetieth: float
    longest: float


class ForecastQuality(NamedTuple):
    """How well ends were foretold.

    `errors`: over the life of campaigns (0 to 1), the mean of |foretold end - true end| as a share of their life.
    `calibration`: the share of forecasts whose 90 % interval has the true end in it, the mean over campaigns.
    `width`: of that interval over the time that was truly left, a campaign's median, the mean over campaigns.
    """

    campaigns: int
    errors: tuple[SeriesPoint, ...]
    calibration: float | None
    width: float | None = None


class SimulationResults(NamedTuple):
    """One simulation; `scheduler` is what was tried. `makespan` is from the first submission to the last end of all.

    `bound`: at best, for one who knows the future; `blind`: for one who knows nothing, but loses no time.
    """

    scenario: str
    scheduler: str
    seed: int
    seconds: float
    clusters: tuple[ClusterResults, ...]
    campaigns: tuple[CampaignResults, ...]
    users: tuple[UserResults, ...]
    makespan: float | None
    bound: float
    jain: float | None
    tests: CampaignTestLatencies | None
    expectation: ForecastQuality
    blind: float | None = None

    @property
    def over_blind(self) -> float | None:
        """Times the makespan of one who knows nothing; None: not all has ended, or that one does not end."""
        return None if self.makespan is None or self.blind is None else ratio(self.makespan, self.blind)

    @property
    def stretch(self) -> float | None:
        """Times the bound that the makespan of all campaigns was; None: not all has ended."""
        return None if self.makespan is None else ratio(self.makespan, self.bound)

    @property
    def grid(self) -> ClusterResults:
        """The sums of all clusters, called `all clusters`."""
        return together("all clusters", self.clusters)


def together(name: str, clusters: Sequence[ClusterResults]) -> ClusterResults:
    """Several clusters as one of this name: the sums of their cores, work, jobs, delays and waiting jobs."""
    return ClusterResults(
        name,
        sum(cluster.cores for cluster in clusters),
        sum(cluster.harvestable for cluster in clusters),
        sum(cluster.harvested for cluster in clusters),
        sum(cluster.avoidable for cluster in clusters),
        sum(cluster.unavoidable for cluster in clusters),
        sum(cluster.local_jobs for cluster in clusters),
        sum(cluster.local_seconds for cluster in clusters),
        sum(cluster.local_delay for cluster in clusters),
        sum(cluster.commands for cluster in clusters),
        added([cluster.waiting for cluster in clusters]),
        sum(cluster.lost for cluster in clusters),
    )


def added(series: Sequence[Sequence[SeriesPoint]]) -> tuple[SeriesPoint, ...]:
    """The sum of step functions; each is 0 before its first point."""
    changes = merge(*([(late.at, late.value - early.value) for early, late in _steps(points)] for points in series))
    total, sums = 0.0, dict[float, float]()
    for at, change in changes:
        total += change
        sums[at] = total
    return tuple(SeriesPoint(at, value) for at, value in sums.items())


def ratio(part: float, whole: float) -> float | None:
    """The part of the whole; None where the whole is 0."""
    return part / whole if whole else None


def _steps(points: Sequence[SeriesPoint]) -> list[tuple[SeriesPoint, SeriesPoint]]:
    return list(zip((SeriesPoint(0.0, 0.0), *points), points, strict=False))
