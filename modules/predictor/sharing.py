"""When campaigns end that share a grid: whoever ends leaves its cores to others; pure.

Work flows: a campaign of w core-seconds on c cores would end after w / c seconds alone, and cores may be divided at
will. Campaigns that are submitted later are not foreseen, nor where on the grid the cores are: who has one cluster in
common with another is thought to be able to use all that it leaves.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple

from cigri.flow.views.campaign_progress import CampaignProgress
from modules.predictor.campaign_work import CampaignWorkModel

POLICIES_IN_LINE = ("fifo", "affinity")  # policies under which who is first has all that it can use


class RunningCampaign(NamedTuple):
    """A campaign: core-seconds that it needs still, and cores that it has."""

    campaign_id: int
    work: float
    cores: float


def starts(
    standings: Mapping[int, CampaignWorkModel], places: Mapping[int, Sequence[int]], order: str
) -> dict[int, float]:
    """Seconds until the last task of each begins; those that have a cluster in common share it, by the policy's order.

    `places`: the clusters of each.
    """
    ends = in_line if order in POLICIES_IN_LINE else side_by_side
    seconds: dict[int, float] = {}
    for group in groups(places):
        runners = [RunningCampaign(id, standings[id].work, standings[id].cores) for id in sorted(group)]
        seconds |= ends(runners)
    return seconds


def share_free_cores(
    progress: Sequence[CampaignProgress], free: Mapping[int, int], order: str
) -> dict[int, dict[int, float]]:
    """Cores that nobody uses, by campaign and cluster: of whom has tasks for them, as the policy's order has it.

    `free`: of each cluster. A job needs its whole width; campaigns are served in the order of their numbers.
    """
    asking: dict[int, list[CampaignProgress]] = {}
    for part in sorted(progress, key=lambda part: part.campaign_id):
        if part.remaining > part.running and free.get(part.cluster_id, 0) >= part.width:
            asking.setdefault(part.cluster_id, []).append(part)
    spare_cores: dict[int, dict[int, float]] = {}
    for cluster_id, parts in asking.items():
        served = parts[:1] if order in POLICIES_IN_LINE else parts
        number = 1 if order in POLICIES_IN_LINE else sum(part.alike for part in parts)
        for part in served:
            cores = free[cluster_id] // part.width * part.width / number
            spare_cores.setdefault(part.campaign_id, {})[cluster_id] = cores
    return spare_cores


def groups(places: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Campaigns that have clusters in common, also by way of others."""
    of: dict[int, list[int]] = {}
    for id, clusters in places.items():
        group = [id]
        for other in {joined[0]: joined for cluster in clusters if (joined := of.get(cluster))}.values():
            group += other
        of |= dict.fromkeys({*clusters, *(cluster for member in group for cluster in places[member])}, group)
    return list({group[0]: group for group in of.values()}.values())


def side_by_side(runners: Sequence[RunningCampaign]) -> dict[int, float]:
    """Seconds until each is done where those that stay share what is left in proportion to what they have.

    Processor sharing by weight (generalised: Parekh and Gallager, 1993): with C cores in all, each goes C / (cores of
    those that stay) times as fast as alone. So they end in the order of a_i = work / cores, and from the end of one to
    that of the next (a_i - a_(i-1)) (cores of those that stay) / C seconds pass. Who has no cores is left out.
    """
    running = sorted((runner for runner in runners if runner.cores > 0), key=_alone)
    whole = left = sum(runner.cores for runner in running)
    ends, now, before = dict[int, float](), 0.0, 0.0
    for runner in running:
        now += (_alone(runner) - before) * left / whole if _alone(runner) < inf else inf
        before, left = _alone(runner), max(left - runner.cores, 0.0)
        ends[runner.campaign_id] = now
    return ends


def in_line(runners: Sequence[RunningCampaign]) -> dict[int, float]:
    """The same where all that one leaves goes to the first; `runners` in the order in which they are served.

    Event by event: at each end the first that goes on has used its own cores until now, and has from now on also those
    that became free: its end moves to now + (what is left of its work) / (all its cores). Others keep their pace. Who
    has no cores, and is never the first, is left out.
    """
    work, cores = [runner.work for runner in runners], [runner.cores for runner in runners]
    due, since, first = [_alone(runner) for runner in runners], 0.0, 0
    coming = [(end, place) for place, end in enumerate(due)]
    heapify(coming)
    ended = set[int]()
    while coming:
        now, place = heappop(coming)
        if place in ended or now > due[place] or now == inf:
            continue
        ended.add(place)
        left, heir = cores[place], first
        while heir in ended:
            heir += 1
        if heir != first:  # the first has ended: who comes next has had its own cores until now
            first, since = heir, 0.0
        if heir < len(runners):
            work[heir] -= cores[heir] * (now - since)
            cores[heir], since = cores[heir] + left, now
            due[heir] = now + max(work[heir], 0.0) / cores[heir]
            heappush(coming, (due[heir], heir))
    return {runners[place].campaign_id: due[place] for place in ended}


def _alone(runner: RunningCampaign) -> float:
    """Seconds with the cores that it has."""
    return runner.work / runner.cores if runner.cores > 0 else inf
