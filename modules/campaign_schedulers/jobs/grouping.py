"""How many tasks a job carries, from what was measured of its campaign and cluster; pure.

A job carries one task unless tasks are so short that the batch system could not start one job for each. Then it carries
as many as last `target` seconds, or longer where even that is too short for the batch system, but

- so few that each place in which a job may run gets at least two more jobs before the tasks run out (factoring: Hummel,
  Schonberg and Flynn, 1992), unless starting these would take longer than running them: with a tasks of m seconds and r
  starts a second, a/n jobs of n tasks take a/(n r) + n m seconds, which is least for n = sqrt(a / (m r)). Then so few
  jobs, too, that a cluster gets no more than its share of all tasks, by the places that it has, unless it does them all
  in a moment, as enough of them have shown: the others need theirs, and what waits on one that falls silent waits too;
- so few that they end before the notice of the walltime, as far as their deviation lets foresee;
- so few that the job probably ends before it is killed: tasks not begun have been sent for nothing;
- no more than ten times as many as have been measured.

Tasks that end first are the shortest: what the others have run for so far counts as well, as if all that ran were
divided by the ends among it (the likeliest mean of exponential durations of which some are censored; Epstein and Sobel,
1953).

Where jobs of the target length are still too short for the batch system, jobs run as many tasks side by side as make up
for it, if a node has the cores.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cigri.flow.offers import ClaimedOffer
from cigri.flow.views.job_sizing import JobSizingStatistics
from cigri.states import CampaignType
from modules.campaign_schedulers.jobs.clamped_inputs import plausible_pace

TASK_START = 0.003  # seconds a job needs for the next task, whatever it does
NOTICE = 90.0  # seconds before the walltime that the latest notice comes (docs/reference/on-the-cluster.md)
LATE_DEVIATIONS = 3.0  # of the sum of durations, as margin
SPAN = 2.0  # seconds in which starts are counted
FEWEST_STARTS = 5  # that are needed to know a rate
SHARE_OF_ROOM = 0.5  # of the starts that a batch system has managed, that grouped jobs may need
MOST_GROWTH = 10  # tasks, in a job or sent to a cluster as soon done, for each that has been measured
ROUNDS_OF_JOBS = 2  # of jobs for each place, while there are tasks
SOON = 2.0  # seconds in which a cluster may do all that waits; in longer ones it may fall silent


class OfferedJobCounts(NamedTuple):
    """`offered` jobs of one task; `here` with those that this cluster has, `everywhere` with those of all clusters.

    These jobs of all clusters carry `carried` tasks. `at_once` of those offered start at once.
    """

    offered: int
    here: int
    everywhere: int
    walltime: int
    carried: int
    at_once: int = 0


class JobSize(NamedTuple):
    """How many tasks a job carries at the most, how many of them it runs side by side, and how many jobs may do so."""

    tasks: int = 1
    side: int = 1
    jobs: int | None = None


def size(pace: JobSizingStatistics, room: OfferedJobCounts, target: float) -> JobSize:
    """What a job of this offer carries; `target`: seconds that its tasks last together, 0: always one task a job."""
    pace = plausible_pace(pace)
    rate = start_rate(pace.starts)
    if not target or pace.done < 2 or rate is None:
        return JobSize()
    each = mean(pace) + TASK_START
    needed = room.here / (SHARE_OF_ROOM * rate)
    if each >= needed:
        return JobSize()
    lack = min(needed / (target if pace.is_temporal else each), float(pace.side_by_side))
    side = max(1, min(math.ceil(lack), room.offered))
    if not pace.is_temporal:
        return JobSize(side, side)
    length = max(target, needed / side)
    if pace.deaths:
        length = min(length, pace.job_seconds / pace.deaths)
    fair = pace.waiting / (ROUNDS_OF_JOBS * room.everywhere)
    share = _share(pace, room, each)
    worth = math.sqrt(share / (each * rate))
    most = int(min(length / each, max(fair, worth), MOST_GROWTH * pace.done / side))
    fitting = bisect_right(range(1, most + 1), room.walltime - NOTICE, key=lambda tasks: longest(tasks, pace))
    tasks = max(1, fitting) * side
    return JobSize(tasks, side, math.ceil(share / tasks) if worth > fair else None)


def _share(pace: JobSizingStatistics, room: OfferedJobCounts, each: float) -> float:
    """Of the waiting tasks, those that this cluster may get at once: a mean of few is not believed for many."""
    if pace.waiting <= MOST_GROWTH * pace.done and pace.waiting * each <= room.at_once * min(pace.cycle, SOON):
        return pace.waiting
    return max(0.0, (pace.waiting + room.carried) * room.here / room.everywhere - pace.carried)


def mean(pace: JobSizingStatistics) -> float:
    """Seconds that a task takes: (seconds of the done ones + those of the running so far) / done (see above)."""
    return (pace.duration_sum + pace.under_way) / pace.done


def longest(tasks: int, pace: JobSizingStatistics) -> float:
    """Seconds that so many tasks take at the most: the mean itself is known from `done` of them only."""
    variance = max(0.0, (pace.duration_square_sum - pace.duration_sum**2 / pace.done) / (pace.done - 1))
    spread = math.sqrt(variance * (tasks + tasks**2 / pace.done))
    return tasks * (mean(pace) + TASK_START) + LATE_DEVIATIONS * spread


def start_rate(starts: Sequence[float]) -> float | None:
    """Jobs a second that a batch system was seen to start: the most within any SPAN; None when too few are known."""
    if len(starts) < FEWEST_STARTS:
        return None
    times, most, first = sorted(starts), 0, 0
    for last, time in enumerate(times):
        while time - times[first] >= SPAN:
            first += 1
        most = max(most, last - first + 1)
    return most / SPAN


# What the jobs of each offer may carry; pure.

Paces = Mapping[tuple[int, int], JobSizingStatistics]

Sizes = Mapping[tuple[int, int], JobSize]
"""What a job may carry, by campaign and cluster."""


def size_jobs(offers: Sequence[ClaimedOffer], paces: Paces, target: float) -> Sizes:
    """How many tasks a job of each offer takes; a test campaign tries every cluster with one task."""
    wanted = [offer for offer in offers if offer.type is not CampaignType.TEST]
    places = Counter({key: pace.live for key, pace in paces.items()})
    places.update({(offer.campaign_id, offer.cluster_id): offer.jobs for offer in wanted})
    everywhere: Counter[int] = Counter()
    for (campaign_id, _), jobs in places.items():
        everywhere[campaign_id] += jobs
    carried: Counter[int] = Counter()
    for pace in paces.values():
        carried[pace.campaign_id] += pace.carried
    sizes = {}
    for offer in wanted:
        key = offer.campaign_id, offer.cluster_id
        campaign_id = offer.campaign_id
        at_once = min(offer.jobs, offer.at_once)
        room = OfferedJobCounts(
            offer.jobs, places[key], everywhere[campaign_id], offer.walltime, carried[campaign_id], at_once
        )
        sizes[key] = size(paces[key], room, target)
    return sizes


def limit_offer(offer: ClaimedOffer, sizes: Sizes) -> ClaimedOffer:
    """No more jobs than `JobSize.jobs` says; one that runs tasks side by side counts for as many."""
    size = sizes.get((offer.campaign_id, offer.cluster_id), JobSize())
    return offer if size.jobs is None else offer._replace(jobs=min(offer.jobs, size.jobs * size.side))
