"""How long campaigns take that others wait for, or that wait for others, once they may begin; pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.flow.views.dependency_graph import DependencyEdge
from modules.predictor.campaign_estimates import estimate
from modules.predictor.eta.campaign_end import EndInterval
from modules.predictor.eta.path import OwnDuration
from modules.predictor.eta.published_dates import pressure

UNSEEN = 2.0  # times as soon and as late, where nobody has seen any of it: a choice


def own_times(
    totals: Mapping[int, CampaignProgress], ends: Mapping[int, EndInterval], edges: Sequence[DependencyEdge]
) -> dict[int, OwnDuration]:
    """Of all campaigns on these edges; `ends`: in seconds from now, as if none of them waited.

    One that has not begun is thought to get the cores of what it waits for, of which it has the most.
    """
    on_paths = sorted({id for edge in edges for id in edge[:2]} & totals.keys())
    cores = {id: totals[id].running * totals[id].width for id in on_paths}
    own: dict[int, OwnDuration] = {}
    before: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        before[edge.campaign_id].append(edge.required_id)
    for id in on_paths:
        cores[id] = cores[id] or max((cores.get(required, 0) for required in before[id]), default=0)
        longest = pressure(totals[id]) or 0.0
        own[id] = OwnDuration(ends.get(id) or _unbegun(totals[id], cores[id], longest), longest)
    return own


def _unbegun(total: CampaignProgress, cores: int, longest: float) -> EndInterval | None:
    """By what a task takes as far as that is known before any has run; None: nothing is, or there is no core."""
    seconds = estimate(total)
    if seconds is None or not cores:
        return None
    expected = max(total.remaining * seconds * total.width / cores, longest)
    return EndInterval(expected / UNSEEN, expected, expected * UNSEEN)
