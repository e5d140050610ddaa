"""How fast a campaign goes and how long its tasks take, from successful tasks' real durations; pure.

Long form: docs/explanation/prediction.md#how-long-a-task-takes.
"""

import math
from collections.abc import Sequence
from statistics import fmean
from types import SimpleNamespace

from cigri.estimates.durations import added, quantile
from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.formats.units import HOUR

SHORTEST_WINDOW = 1.0  # seconds; a rate over less says nothing
SHORTEST_MEAN = 1e-6  # seconds; a mean below is that of tasks that took no time


def together(parts: Sequence[CampaignProgress]) -> CampaignProgress:
    """A campaign on all its clusters: sums of what was done there, the widest job, the longest window and walltime.

    What is said of the whole campaign anyway, as `remaining`, is that of the first part. `guess` is the mean of those
    that were told, each cluster alike. What belongs to one cluster only (forecast, speed, algorithm) is left out.
    """
    columns = zip(*parts, strict=True)
    every = SimpleNamespace(
        **dict(zip(CampaignProgress._fields, columns, strict=True))
    )  # in each field what the parts have
    guesses = [guess for guess in every.guess if guess]
    return CampaignProgress(
        parts[0].campaign_id,
        0,
        max(every.width),
        sum(every.done),
        sum(every.seconds),
        sum(every.squares),
        sum(every.window_tasks),
        max(every.window_seconds),
        sum(every.running),
        sum(every.waiting),
        parts[0].remaining,
        added(every.durations) if any(every.durations) else (),
        walltime=max(every.walltime),
        average=_average(parts) if any(every.average) else None,
        known=parts[0].known,
        doubted=sum(every.doubted),
        again=sum(every.again),
        replicates=parts[0].replicates,
        expected=parts[0].expected,
        longest=parts[0].longest,
        guess=fmean(guesses) if guesses else None,
    )


def _average(parts: Sequence[CampaignProgress]) -> float | None:
    """The mean of the clusters' moving averages in seconds; each counts for the tasks that it has done."""
    averages = [(part.average, part.done) for part in parts if part.average is not None and part.done]
    done = sum(number for _, number in averages)
    return sum(average * number for average, number in averages) / done if done else None


def throughput(part: CampaignProgress) -> float | None:
    """Successful tasks per hour in the window; None before the first."""
    if not part.window_tasks:
        return None
    return part.window_tasks * HOUR / max(part.window_seconds, SHORTEST_WINDOW)


def mean(part: CampaignProgress) -> float | None:
    """Seconds of a successful task, those of late counting for more; None before the first.

    The moving average of its buckets (cigri/estimates/durations.py: averaged), else the mean of all.
    """
    seconds = part.seconds / part.done if part.average is None and part.done else part.average
    return seconds if seconds is None or seconds >= SHORTEST_MEAN else 0.0


def estimate(part: CampaignProgress) -> float | None:
    """Seconds that one of the remaining tasks is expected to take, on the mean.

    As it took when it last succeeded, else as those of its campaign do, else as its user thinks: with k of the r
    remaining tasks known, k/r of their mean before and (1 - k/r) of the usual.
    """
    others = usual(part)
    if not part.known or not part.remaining:
        return others
    last = part.expected / part.known
    share = min(part.known / part.remaining, 1.0)
    return share * last + (1.0 - share) * (last if others is None else others)


def usual(part: CampaignProgress) -> float | None:
    """Seconds that a task takes which never ran before: the mean of its campaign's, else its user's guess; or None."""
    average = mean(part)
    return part.guess if average is None else average


def deviation(part: CampaignProgress) -> float | None:
    """Standard deviation of the duration, in seconds; None before the second success. Unbiased: over n - 1."""
    if part.done < 2:
        return None
    variance = (part.squares - part.seconds**2 / part.done) / (part.done - 1)
    return math.sqrt(max(variance, 0.0))


def share_within(part: CampaignProgress, share: float) -> float | None:
    """Seconds that this share (between 0 and 1) of the successful tasks do not exceed; None before the first.

    Read from the bins, and bounded by what mean and deviation allow, so that few tasks, or such as last equally long,
    are told as they were: no value is more than sqrt(n - 1) standard deviations off the mean (Samuelson, 1968), and the
    quantile p at most sqrt(p / (1 - p)) above it and sqrt((1 - p) / p) below it (Cantelli, 1928).
    """
    found = quantile(part.durations, share)
    if found is None or not part.done:
        return found
    centre = part.seconds / part.done
    spread, farthest = math.sqrt(max(part.squares / part.done - centre**2, 0.0)), math.sqrt(part.done - 1)
    lowest = centre - spread * min(farthest, math.sqrt((1.0 - share) / share))
    highest = centre + spread * min(farthest, math.sqrt(share / (1.0 - share)))
    return min(max(found, lowest), highest)


def longest(part: CampaignProgress, tasks: float, chance: float) -> float:
    """Seconds that the longest of so many tasks does not exceed with this chance; 0 of no tasks.

    Of n tasks that last independently of each other, all with chance p stay below the p^(1/n) quantile of one.
    """
    return (quantile(part.durations, chance ** (1.0 / tasks)) or 0.0) if tasks > 1e-3 else 0.0
