"""Where tasks go of which it is known how long they take: the longest first, and none where it would end last; pure.

Longest first ends within 4/3 of the best on cores alike (LPT: Graham, 1969), and within twice the best on others where
each task goes to the core on which it ends first (Gonzalez, Ibarra and Sahni, 1977). Here a task goes wherever it is
expected to end before the campaign can: when all work that is left has been done by the cores that the campaign has and
may have, or its longest task, begun now where it would end first. What would last longer on a slow cluster waits for a
faster one.
"""

from collections.abc import Collection, Mapping
from math import inf
from typing import NamedTuple

from cigri.flow.tasks import Backlog
from cigri.flow.views.job_sizing import LiveJobTotals
from modules.campaign_schedulers.jobs.clamped_inputs import plausible_backlog, plausible_crew
from modules.campaign_schedulers.jobs.completion_model import CompletionModel

JUST_OVER = 1 + 1e-9


class OfferedJobs(NamedTuple):
    """`jobs` that may be sent to a cluster, of which `at_once` start at once."""

    jobs: int
    at_once: int


class TaskAllotment(NamedTuple):
    """So many jobs go to the cluster, of tasks of at most `longest` seconds at speed 1."""

    cluster_id: int
    jobs: int
    longest: float


def allot_longest_first(
    outlook: CompletionModel, crews: Mapping[int, LiveJobTotals], backlog: Backlog, offered: Mapping[int, OfferedJobs]
) -> list[TaskAllotment]:
    """Of each of the clusters offered, the fastest first: what starts at once, and then what waits there."""
    backlog, crews = plausible_backlog(backlog), {id: plausible_crew(crew) for id, crew in crews.items()}
    end = earliest_end(outlook, crews, backlog, offered)
    best = min(offered, key=lambda cluster_id: outlook.completion(cluster_id, backlog.longest))
    is_best_in_time = outlook.completion(best, backlog.longest) <= end * JUST_OVER
    order = sorted(offered, key=lambda cluster_id: -outlook.speed(cluster_id))
    shared = []
    for waits in (False, True):
        for id in order:
            offer = offered[id]
            seconds = outlook.longest_within(id, end) / (1 + _behind(crews[id], offer) if waits else 1)
            if id == best and is_best_in_time:
                seconds = max(seconds, backlog.longest)
            shared.append(
                TaskAllotment(id, offer.jobs - offer.at_once if waits else offer.at_once, seconds * JUST_OVER)
            )
    return [portion for portion in shared if portion.jobs]


def _behind(crew: LiveJobTotals, offer: OfferedJobs) -> float:
    """Tasks like these that go before the last of them on each core."""
    return (crew.waiting + offer.jobs - offer.at_once) / max(crew.running + offer.at_once, 1)


def earliest_end(
    outlook: CompletionModel, crews: Mapping[int, LiveJobTotals], backlog: Backlog, offered: Collection[int]
) -> float:
    """Seconds until the campaign ends, if it gets what it is offered and keeps what it has: a bound from below.

    The larger of (work left at speed 1 - what the running jobs have done) / (speeds of its cores, summed), as if work
    could be divided at will, and the completion of its longest task where that is soonest.
    """
    mean = backlog.expected / backlog.known
    work = backlog.expected + mean * (backlog.tasks - backlog.known)
    power = 0.0
    for cluster_id, crew in crews.items():
        work -= outlook.speed(cluster_id) * crew.ran
        power += outlook.speed(cluster_id) * (crew.running + (crew.free if cluster_id in offered else 0))
    there = [id for id, crew in crews.items() if crew.running or id in offered]
    last = min((outlook.completion(cluster_id, backlog.longest) for cluster_id in there), default=inf)
    return max(work / power if power else inf, last)
