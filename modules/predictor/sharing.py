"""When campaigns end that share a grid: whoever ends leaves its cores to others; pure."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple

from cigri.flow.views.progress import Progress
from modules.predictor.campaign_pace import CampaignOnCluster

POLICIES_IN_LINE = ("fifo", "affinity")  # policies under which who is first has all that it can use


class Runner(NamedTuple):
    """A campaign: core-seconds that it needs still, and cores that it has."""

    campaign_id: int
    work: float
    cores: float


def starts(known: Mapping[int, CampaignOnCluster], places: Mapping[int, Sequence[int]], order: str) -> dict[int, float]:
    """Seconds until the last task of each begins; those that have a cluster in common share it, by the policy's order.

    `places`: the clusters of each.
    """
    ends = in_line if order in POLICIES_IN_LINE else side_by_side
    found: dict[int, float] = {}
    for group in groups(places):
        runners = [Runner(id, known[id].work, known[id].cores) for id in sorted(group)]
        found |= ends(runners)
    return found


def spare(progress: Sequence[Progress], free: Mapping[int, int], order: str) -> dict[int, dict[int, float]]:
    """Cores that nobody uses, by campaign and cluster: of whom has tasks for them, as the policy's order has it.

    `free`: of each cluster. A job needs its whole width; campaigns are served in the order of their numbers.
    """
    asking: dict[int, list[Progress]] = {}
    for part in sorted(progress, key=lambda part: part.campaign_id):
        if part.remaining > part.running and free.get(part.cluster_id, 0) >= part.width:
            asking.setdefault(part.cluster_id, []).append(part)
    found: dict[int, dict[int, float]] = {}
    for cluster_id, parts in asking.items():
        served = parts[:1] if order in POLICIES_IN_LINE else parts
        number = 1 if order in POLICIES_IN_LINE else sum(part.alike for part in parts)
        for part in served:
            cores = free[cluster_id] // part.width * part.width / number
            found.setdefault(part.campaign_id, {})[cluster_id] = cores
    return found


def groups(places: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Campaigns that have clusters in common, also by way of others."""
    of: dict[int, list[int]] = {}
    for id, clusters in places.items():
        group = [id]
        for other in {one[0]: one for cluster in clusters if (one := of.get(cluster))}.values():
            group += other
        of |= dict.fromkeys({*clusters, *(cluster for one in group for cluster in places[one])}, group)
    return list({group[0]: group for group in of.values()}.values())


def side_by_side(runners: Sequence[Runner]) -> dict[int, float]:
    """Seconds until each is done where those that stay share what is left in proportion to what they have."""
    running = sorted((one for one in runners if one.cores > 0), key=_alone)
    whole = left = sum(one.cores for one in running)
    ends, now, before = dict[int, float](), 0.0, 0.0
    for one in running:
        now += (_alone(one) - before) * left / whole if _alone(one) < inf else inf
        before, left = _alone(one), max(left - one.cores, 0.0)
        ends[one.campaign_id] = now
    return ends


def in_line(runners: Sequence[Runner]) -> dict[int, float]:
    """The same where all that one leaves goes to the first; `runners` in the order in which they are served."""
    work, cores = [one.work for one in runners], [one.cores for one in runners]
    due, since, first = [_alone(one) for one in runners], 0.0, 0
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


def _alone(one: Runner) -> float:
    return one.work / one.cores if one.cores > 0 else inf
