"""The end of a campaign: what remains is begun a second time elsewhere, where nobody else has a use for the cores.

A replica begins anew, on the cluster where it is expected to end first (jobs/completion_model.py). What is gained is
the difference; the largest gain comes first. Less than the time between two looks at the cluster is nothing: the end
would be seen no earlier, and the loser's would still have to be.

Replicas burn core-seconds: from its start each costs its cores, until the first of the attempts ends. All together may
cost a part of the core-seconds that the campaign has used. (Replication in a work queue: WQR, da Silva, Cirne and
Brasileiro, 2003.)
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

from cigri.flow.views.stragglers import Straggler
from modules.campaign_schedulers import Assignment, JobSlots
from modules.campaign_schedulers.jobs.completion_model import CompletionModel
from modules.campaign_schedulers.workqueue import choose as workqueue


class ReplicaProposal(NamedTuple):
    """One more attempt at a task, on this cluster: expected gain in seconds, and cost in core-seconds."""

    task_id: int
    cluster_id: int
    gain: float
    cost: float


def choose(waiting: int, places: Sequence[JobSlots]) -> Iterator[Assignment]:
    """What waits goes before replicas: as in the work queue, where tasks that were tried before come first."""
    yield from workqueue(waiting, places)


def replicate(
    tries: Sequence[Straggler], outlook: CompletionModel, places: Mapping[int, int], most: int, budget: float
) -> list[ReplicaProposal]:
    """The replicas to begin now, largest gain first; `places` are free jobs by cluster.

    No task gets more than `most` replicas at a time, nor two attempts on one cluster. The cost of those begun is never
    more than `budget` core-seconds, less what those that run are still expected to cost.
    """
    if not outlook.is_known:
        return []
    tasks: dict[int, list[Straggler]] = defaultdict(list)
    for live in tries:
        tasks[live.task_id].append(live)
    budget -= sum(_committed(attempts, outlook) for attempts in tasks.values())
    left, order = dict(places), count()
    line = []
    for attempts in tasks.values():
        if len(attempts) <= most and (best := _best(attempts, outlook, left)):
            line.append((-best.gain, next(order), best, attempts))
    heapify(line)
    chosen = []
    while line and budget > 0:
        _, _, replica, attempts = heappop(line)
        if replica.cost > budget:
            continue
        if left[replica.cluster_id] <= 0:
            if best := _best(attempts, outlook, left):
                heappush(line, (-best.gain, next(order), best, attempts))
            continue
        left[replica.cluster_id] -= 1
        budget -= replica.cost
        chosen.append(replica)
    return chosen


def _best(attempts: Sequence[Straggler], outlook: CompletionModel, places: Mapping[int, int]) -> ReplicaProposal | None:
    """Where one more attempt is expected to end first; None where that is no gain, or while one of them is not sent.

    The gain is the time until the first of the live attempts ends, less that of the new one, and has to be more than
    the time between two looks at its cluster. Its cost is its width times the seconds that it is expected to run.
    """
    if any(live.wait_seconds is None for live in attempts):
        return None
    there = {live.cluster_id for live in attempts}
    work = max(outlook.work(live.cluster_id, live.run_seconds or 0.0, live.expected) for live in attempts)
    free = [id for id, jobs in places.items() if jobs > 0 and id not in there]
    ends = [(outlook.completion(cluster_id, work), cluster_id) for cluster_id in free if outlook.fits(cluster_id, work)]
    if not ends:
        return None
    end, cluster_id = min(ends)
    gain = min(outlook.remaining(live) for live in attempts) - end
    if gain <= outlook.cycle(cluster_id):
        return None
    cost = (end - outlook.delay(cluster_id)) * outlook.width(cluster_id)
    return ReplicaProposal(attempts[0].task_id, cluster_id, gain, cost)


def _committed(attempts: Sequence[Straggler], outlook: CompletionModel) -> float:
    """Core-seconds that the replicas among the attempts at a task will cost until the first of all has ended."""
    replicas = [live for live in attempts if live.is_replica]
    if not replicas or len(attempts) == 1:
        return 0.0
    ways = [outlook.remaining(live) for live in attempts if not live.is_cluster_unreachable]
    return min(ways, default=0.0) * sum(outlook.width(live.cluster_id) for live in replicas)
