"""When campaigns end that wait for others, and how much time lies behind those that others wait for; pure.

As open-lmake adds up what remains along the critical path, here from campaign to campaign. One that waits begins when
the last of what it waits for has ended; where each task waits for that of the same number, the last one begins then,
and the others go side by side with what they wait for. Required campaigns have the smaller numbers, so that one way
through them is enough.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cigri.flow.views.dependency_graph import DependencyEdge
from modules.predictor.eta.campaign_end import EndInterval

NOW = EndInterval(0.0, 0.0, 0.0)


class OwnDuration(NamedTuple):
    """Seconds that a campaign takes from when it may begin (None: unknown), and its longest task (0: unknown)."""

    left: EndInterval | None
    longest: float = 0.0


def ends(own: Mapping[int, OwnDuration], edges: Sequence[DependencyEdge]) -> dict[int, EndInterval]:
    """Seconds from now until each ends; one is left out if its own time is not known, or that of what it waits for.

    What has ended otherwise than it was to may never be done again: whoever waits for it has no end. A campaign that is
    not among `own` has ended.
    """
    required: dict[int, list[DependencyEdge]] = defaultdict(list)
    for edge in edges:
        required[edge.campaign_id].append(edge)
    known: dict[int, EndInterval] = {}
    for campaign_id in sorted(own):
        left, before = own[campaign_id].left, required[campaign_id]
        if left is None or any(edge.is_broken or _is_endless(edge.required_id, own, known) for edge in before):
            continue
        whole = [known.get(edge.required_id, NOW) for edge in before if not edge.is_same]
        same = [known.get(edge.required_id, NOW) for edge in before if edge.is_same]
        end = _sum(_latest([NOW, *whole]), left)
        known[campaign_id] = _latest([end, *(_later(each, own[campaign_id].longest) for each in same)])
    return known


def behind(own: Mapping[int, OwnDuration], edges: Sequence[DependencyEdge]) -> dict[int, float]:
    """Seconds on the longest path of campaigns that wait for each; what is not known of them counts as nothing."""
    waiting: dict[int, list[DependencyEdge]] = defaultdict(list)
    for edge in edges:
        if not edge.is_broken and edge.campaign_id in own:
            waiting[edge.required_id].append(edge)
    seconds: dict[int, float] = {}
    for campaign_id in sorted(waiting, reverse=True):
        waiters = [(edge, own[edge.campaign_id]) for edge in waiting[campaign_id]]
        seconds[campaign_id] = max(_alone(of, edge) + seconds.get(edge.campaign_id, 0.0) for edge, of in waiters)
    return seconds


def _is_endless(campaign_id: int, own: Mapping[int, OwnDuration], known: Mapping[int, EndInterval]) -> bool:
    return campaign_id in own and campaign_id not in known


def _alone(of: OwnDuration, edge: DependencyEdge) -> float:
    """What is left of it when what it waits for has ended."""
    return of.longest if edge.is_same or of.left is None else max(of.left.expected, of.longest)


def _latest(intervals: Sequence[EndInterval]) -> EndInterval:
    return EndInterval(*map(max, zip(*intervals, strict=True)))


def _sum(first: EndInterval, second: EndInterval) -> EndInterval:
    return EndInterval(*map(sum, zip(first, second, strict=True)))


def _later(interval: EndInterval, seconds: float) -> EndInterval:
    return EndInterval(*(bound + seconds for bound in interval))
