"""The derived figures of a simulation, from its raw events; pure functions, times in seconds."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, quantiles
from typing import NamedTuple

from cigri.estimates.fair_shares import fair_shares
from modules.laboratory.evaluation.results import CampaignTestLatencies, ForecastQuality, SeriesPoint, UserResults

SHORTEST_RUN_TIME = 10.0  # run times below this count as this in a slowdown, or short tasks would decide it alone
LIFE_STEPS = 20  # points of an error over the life of campaigns


class TaskTimes(NamedTuple):
    """A task that ended: `seconds` is the run of the attempt that counts."""

    user: str
    submitted: float
    ended: float
    seconds: float


class LocalJobStart(NamedTuple):
    """A local job with and without the grid; None: it had not started when the simulation ended."""

    seconds: float
    without: float | None
    started: float | None


class LocalJobDelay(NamedTuple):
    """So many jobs, the sum of their run times, and that of their delays."""

    jobs: int
    seconds: float
    delay: float


class ServiceInterval(NamedTuple):
    """Core-seconds that users got in one interval, and those they could have used in it, had all cores been theirs."""

    received: Mapping[str, float]
    wanted: Mapping[str, float]


class EndForecast(NamedTuple):
    """Made at `at`: the expected end, and the interval that has the true end in it with 90 %."""

    at: float
    expected: float
    low: float
    high: float


class ForecastCampaign(NamedTuple):
    """A campaign and what was said of its end; `ended` is None when it had not."""

    submitted: float
    ended: float | None
    forecasts: Sequence[EndForecast]


def bounded_slowdown(task: TaskTimes) -> float:
    """Response time over run time, the run time being at least 10 s and the result at least 1 (Feitelson 1997)."""
    return max(1.0, (task.ended - task.submitted) / max(task.seconds, SHORTEST_RUN_TIME))


def slowdowns(tasks: Iterable[TaskTimes]) -> tuple[UserResults, ...]:
    """The mean over each user's tasks, by name."""
    sums: dict[str, tuple[int, float]] = {}
    for task in tasks:
        count, total = sums.get(task.user, (0, 0.0))
        sums[task.user] = count + 1, total + bounded_slowdown(task)
    return tuple(UserResults(user, count, total / count) for user, (count, total) in sorted(sums.items()))


def jain(values: Sequence[float]) -> float | None:
    """Jain's index: (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all alike); None of nobody or nothing."""
    largest = max(values, default=0.0)
    shares = [value / largest for value in values] if largest > 0 else []
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares)) if shares else None


def fairness(intervals: Iterable[ServiceInterval], targets: Mapping[str, float]) -> float | None:
    """Jain's index of what users got over their fair share, the mean of intervals, each weighing what was given."""
    weighed, weight = 0.0, 0.0
    for received, wanted in intervals:
        given = sum(received.values())
        shares = fair_shares(given, wanted, targets)
        index = jain([received.get(user, 0.0) / share for user, share in shares.items() if share > 0])
        if index is not None:
            weighed, weight = weighed + index * given, weight + given
    return weighed / weight if weight else None


def local_delay(jobs: Iterable[LocalJobStart], end: float) -> LocalJobDelay:
    """Of the jobs that start without the grid, up to `end`; one that starts earlier with it makes up for no other."""
    total = LocalJobDelay(0, 0.0, 0.0)
    for seconds, without, started in jobs:
        if without is not None:
            delay = max(0.0, (end if started is None else started) - without)
            total = LocalJobDelay(total.jobs + 1, total.seconds + seconds, total.delay + delay)
    return total


def latencies(seconds: Sequence[float]) -> CampaignTestLatencies | None:
    """Of test campaigns, each from its submission to the start of its last task."""
    if not seconds:
        return None
    ninetieth = quantiles(seconds, n=10, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return CampaignTestLatencies(len(seconds), median(seconds), ninetieth, max(seconds))


def expectation(campaigns: Sequence[ForecastCampaign], end: float) -> ForecastQuality:
    """Errors over life from campaigns that ended; calibration also from those that certainly outlast an interval."""
    steps: list[list[float]] = [[] for _ in range(LIFE_STEPS)]
    for campaign in campaigns:
        if campaign.ended is not None and campaign.ended > campaign.submitted:
            life = campaign.ended - campaign.submitted
            for forecast in campaign.forecasts:
                step = int((forecast.at - campaign.submitted) / life * LIFE_STEPS)
                if 0 <= step < LIFE_STEPS:
                    steps[step].append(abs(forecast.expected - campaign.ended) / life)
    errors = tuple(SeriesPoint(step / LIFE_STEPS, fmean(parts)) for step, parts in enumerate(steps) if parts)
    shares = [share for campaign in campaigns if (share := _within(campaign, end)) is not None]
    ended = sum(campaign.ended is not None for campaign in campaigns)
    widths = [width for campaign in campaigns if (width := _width(campaign)) is not None]
    return ForecastQuality(ended, errors, fmean(shares) if shares else None, fmean(widths) if widths else None)


def _within(campaign: ForecastCampaign, end: float) -> float | None:
    """The share of its forecasts with the true end in the interval; those still undecided at `end` do not count."""
    hits = [
        forecast.low <= campaign.ended <= forecast.high if campaign.ended is not None else False
        for forecast in campaign.forecasts
        if campaign.ended is not None or forecast.high < end
    ]
    return fmean(hits) if hits else None


def _width(campaign: ForecastCampaign) -> float | None:
    """The median of its intervals' widths over the time that was truly left; None when its end was not seen."""
    if campaign.ended is None:
        return None
    left = [(forecast, campaign.ended - forecast.at) for forecast in campaign.forecasts]
    widths = [(forecast.high - forecast.low) / seconds for forecast, seconds in left if seconds > 0]
    return median(widths) if widths else None
