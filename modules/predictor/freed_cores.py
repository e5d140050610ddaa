"""How many of our cores on a cluster will be free again soon, by what is known of the jobs that run there; pure.

Seconds everywhere. Reckoned in PostgreSQL this took 7 s for 100 000 jobs, where to read and reckon here takes 2.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import sqrt
from typing import NamedTuple

from cigri.estimates.speeds import FEWEST_FOR_SPEED
from cigri.flow.views.cluster_service import RunningJobProgress

UNIFORM = sqrt(3)  # half the breadth, in deviations, of durations that are spread evenly
DEVIATION = 0.1  # of the duration of a task that ran before, as part of it
BRIEFEST = 0.1  # seconds; of what is shorter no more are expected to end


class FreedCores(NamedTuple):
    """Cores of ours expected to be free again before the horizon, and the variance of that number."""

    cores: float
    variance: float


class JobDuration(NamedTuple):
    """How long a job lasts, from its start to its end, and the deviation of that."""

    mean: float
    deviation: float


def endings(jobs: Iterable[RunningJobProgress], horizons: Mapping[int, float]) -> dict[int, FreedCores]:
    """By cluster, within the seconds to its horizon; one where no job runs is left out.

    Expected cores: the sum of width * (jobs that end). Variance: the sum of width^2 * (variance of that number).
    Jobs of which it is known how long they last end each by itself: their variances add up. Of the others those of a
    campaign end together or not, as whatever is not known of one is not known of the others: their deviations add up.
    """
    cores, variances = defaultdict[int, float](float), defaultdict[int, float](float)
    together = defaultdict[tuple[int, int], float](float)
    for job in jobs:
        lasting = lasting_of(job)
        ends = jobs_that_end(job, horizons[job.cluster_id], lasting)
        cores[job.cluster_id] += job.width * ends
        if lasting is None:
            together[job.campaign_id, job.cluster_id] += job.width * sqrt(ends * (1 - ends))
        else:
            variances[job.cluster_id] += job.width**2 * _variance(ends, lasting)
    for (_, cluster_id), deviation in together.items():
        variances[cluster_id] += deviation**2
    return {cluster_id: FreedCores(number, variances[cluster_id]) for cluster_id, number in cores.items()}


def lasting_of(job: RunningJobProgress) -> JobDuration | None:
    """None: none of its campaign's tasks has succeeded there, and its own never ran before.

    Its only task takes as long as it did before, divided by the speed of the cluster (cigri/estimates/speeds.py), give
    or take a tenth. Otherwise n tasks, one after the other, take n times the mean of those that were done there, with
    sqrt(n) times their deviation; of one alone the deviation is its duration.
    """
    if seconds := _as_before(job):
        return JobDuration(seconds, DEVIATION * seconds)
    if not job.done:
        return None
    mean = max(job.seconds / job.done, BRIEFEST)
    deviation = mean
    if job.done > 1:
        deviation = sqrt(max(job.squares - job.seconds**2 / job.done, 0.0) / (job.done - 1))
    return JobDuration(mean * job.tasks, deviation * sqrt(job.tasks))


def _as_before(job: RunningJobProgress) -> float | None:
    """Seconds that its only task takes here if it takes as much work as when it ran before; None: that is not known.

    The speed of the cluster is that of this campaign once enough known tasks have ended there, and no others: what
    they were expected to take at speed 1, over what they took. Else it is that of earlier campaigns.
    """
    if job.before is None:
        return None
    if FEWEST_FOR_SPEED <= job.known >= job.done and job.expected > 0:
        return job.before * job.seconds / job.expected
    return None if job.speed is None else job.before / job.speed


def jobs_that_end(job: RunningJobProgress, left: float, lasting: JobDuration | None) -> float:
    """How many end in `left` seconds on the cores of this job: itself and, of short ones, those that follow it.

    Jobs not longer than `left` follow each other: left / mean. By its walltime each has ended. Where nothing is known
    of durations they are thought to have no scale of their own: a job that has lasted for `age` ends within `left` with
    probability left / (left + age) (Gott's delta-t argument). Else they are thought to be spread evenly over the mean
    +- sqrt(3) deviations, which has this deviation: none ends before that, and one that is `age` old ends within `left`
    with probability left / (longest - age); of one that is older than the longest, a deviation may remain. For one that
    is younger than the shortest that is too much, by what `left` reaches before the shortest.
    """
    if lasting is not None and lasting.mean <= left:
        return left / lasting.mean
    if job.age + left >= job.walltime:
        return 1.0
    if lasting is None:
        return left / (left + job.age)
    breadth = UNIFORM * lasting.deviation
    if job.age + left < lasting.mean - breadth:
        return 0.0
    return min(left / max(lasting.mean + breadth - job.age, lasting.deviation, left), 1.0)


def _variance(ends: float, lasting: JobDuration) -> float:
    """Of one that ends or not: p (1 - p). Of n that follow each other: n (deviation / mean)^2, as renewals have it.

    That holds for a large n, and is applied from one on, with a deviation of the mean at most.
    """
    return ends * (1 - ends if ends <= 1 else min((lasting.deviation / lasting.mean) ** 2, 1.0))
