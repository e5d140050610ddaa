"""Cores of a cluster over time, one kind on top of the other; a time in which nobody looked stays empty. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from cigri.answers.clusters import Usage

STACK_WIDTH, STACK_HEIGHT = 960, 100
KINDS = ("ours", "others", "down", "free")
"""From the bottom to the top."""


class StackBand(NamedTuple):
    """One kind of cores, and the areas that it fills, as a path."""

    kind: str
    path: str


class Stack(NamedTuple):
    """A chart from `since` to `until`; `most`: cores at its upper edge."""

    bands: list[StackBand]
    most: int
    since: datetime
    until: datetime


def stack(usage: Sequence[Usage], until: datetime, past: timedelta, period: timedelta) -> Stack | None:
    """Of one cluster, by periods of that length, the oldest first; None: nobody has looked at it."""
    most = max((sum(cores_of(use)) for use in usage), default=0)
    if not most:
        return None
    since, paths = until - past, {kind: "" for kind in KINDS}
    for run in _runs(usage, period):
        edges = [_across((use.at - since) / past) for use in run]
        edges.append(_across((run[-1].at + period - since) / past))
        for place, kind in enumerate(KINDS):
            lower = [_up(sum(cores_of(use)[:place]) / most) for use in run]
            upper = [_up(sum(cores_of(use)[: place + 1]) / most) for use in run]
            paths[kind] += _area(edges, lower, upper) if lower != upper else ""
    return Stack([StackBand(kind, path) for kind, path in paths.items()], most, since, until)


def cores_of(use: Usage) -> tuple[int, ...]:
    """In the order of KINDS; of what is used, a part is the grid's own."""
    return use.used_by_us, max(use.used - use.used_by_us, 0), use.unavailable, use.free


def _runs(usage: Sequence[Usage], period: timedelta) -> list[list[Usage]]:
    """Periods that follow each other."""
    runs: list[list[Usage]] = []
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
    return round(min(max(part, 0.0), 1.0) * STACK_WIDTH)


def _up(part: float) -> int:
    return STACK_HEIGHT - round(part * STACK_HEIGHT)
