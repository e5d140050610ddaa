"""The small charts in the list of clusters: cores over time, one kind on the other, with gaps. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from cigri.api_models.clusters import ClusterUsagePeriod

STACK_WIDTH, STACK_HEIGHT = 960, 100
KINDS = ("ours", "others", "down", "free")
"""From the bottom to the top."""


class ChartBand(NamedTuple):
    """One kind of cores, and the areas that it fills, as a path."""

    kind: str
    path: str


class StackedChart(NamedTuple):
    """A chart of a time; `most`: cores at its upper edge."""

    bands: list[ChartBand]
    most: int


def stack(
    usage: Sequence[ClusterUsagePeriod], until: datetime, past: timedelta, period: timedelta
) -> StackedChart | None:
    """Of one cluster, by periods of that length, the oldest first; None: nobody has looked at it."""
    most = ceil(max((sum(cores_of(use)) for use in usage), default=0))
    if not most:
        return None
    since, paths = until - past, dict.fromkeys(KINDS, "")
    for run in runs_of(usage, period):
        edges = [_across((use.at - since) / past) for use in run]
        edges.append(_across((run[-1].at + period - since) / past))
        layers = zip(*map(cores_of, run), strict=True)
        for band in _bands(edges, dict(zip(KINDS, layers, strict=True)), most):
            paths[band.kind] += band.path
    return StackedChart([ChartBand(kind, path) for kind, path in paths.items()], most)


def _bands(edges: Sequence[int], layers: Mapping[str, Sequence[float]], most: int) -> list[ChartBand]:
    """Layers from the bottom to the top, each with a height between two edges; `most` reaches to the upper end."""
    told, lower = [], [0.0] * (len(edges) - 1)
    for kind, heights in layers.items():
        upper = [below + height for below, height in zip(lower, heights, strict=True)]
        floor, roof = ([_up(height / most) for height in line] for line in (lower, upper))
        told.append(ChartBand(kind, _area(edges, floor, roof) if floor != roof else ""))
        lower = upper
    return told


def cores_of(use: ClusterUsagePeriod) -> tuple[float, ...]:
    """In the order of KINDS; of what is used, a part is the grid's own."""
    return use.used_by_us, max(use.used - use.used_by_us, 0), use.unavailable, use.free


def runs_of(usage: Sequence[ClusterUsagePeriod], period: timedelta) -> list[list[ClusterUsagePeriod]]:
    """Periods that follow each other."""
    runs: list[list[ClusterUsagePeriod]] = []
    for use in usage:
        if runs and use.at - runs[-1][-1].at <= period:
            runs[-1].append(use)
        else:
            runs.append([use])
    return runs


def _area(edges: Sequence[int], lower: Sequence[int], upper: Sequence[int]) -> str:
    """There along the upper edge, step by step, and back along the lower one."""
    there = "".join(f"V{height}H{edge}" for height, edge in zip(upper, edges[1:], strict=True))
    back = "".join(f"V{height}H{edge}" for height, edge in zip(reversed(lower), edges[-2::-1], strict=True))
    return f"M{edges[0]} {upper[0]}{there}{back}z"


def _across(part: float) -> int:
    """Of the width."""
    return round(min(max(part, 0.0), 1.0) * STACK_WIDTH)


def _up(part: float) -> int:
    """Of the height; it is counted from above."""
    return STACK_HEIGHT - round(part * STACK_HEIGHT)
