"""How long campaigns take that others wait for, or that wait for others, once they may begin; pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from cigri.flow.views.campaign_progress import Progress
from cigri.flow.views.dependency_graph import Edge
from modules.predictor.campaign_estimates import estimate
from modules.predictor.eta.campaign_end import Interval
from modules.predictor.eta.path import OwnTime
from modules.predictor.eta.published_dates import pressure

UNSEEN = 2.0  # times as soon and as late, where nobody has seen any of it: a choice


def own_times(
    totals: Mapping[int, Progress], ends: Mapping[int, Interval], edges: Sequence[Edge]
) -> dict[int, OwnTime]:
    """Of all campaigns on these edges; `ends`: in seconds from now, as if none of them waited.

    One that has not begun is thought to get the cores of what it waits for, of which it has the most.
    """
    on_paths = sorted({id for edge in edges for id in edge[:2]} & totals.keys())
    cores = {id: totals[id].running * totals[id].width for id in on_paths}
    own: dict[int, OwnTime] = {}
    before: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        before[edge.campaign_id].append(edge.required_id)
    for id in on_paths:
        cores[id] = cores[id] or max((cores.get(required, 0) for required in before[id]), default=0)
        longest = pressure(totals[id]) or 0.0
        own[id] = OwnTime(ends.get(id) or _unbegun(totals[id], cores[id], longest), longest)
    return own


def _unbegun(total: Progress, cores: int, longest: float) -> Interval | None:
    """By what a task takes as far as that is known before any has run; None: nothing is, or there is no core."""
    seconds = estimate(total)
    if seconds is None or not cores:
        return None
    expected = max(total.remaining * seconds * total.width / cores, longest)
    return Interval(expected / UNSEEN, expected, expected * UNSEEN)
