"""How early a bag of tasks could end for one who knows all that is to come: a lower bound of the makespan; pure.

Nobody who leaves local jobs alone ends earlier than the latest of these:

- by area: the tasks of at least some width need their core-seconds, and get them only from moments at which a cluster
  has at least so many idle cores; for each width that occurs (Graham's bound, with a capacity that changes);
- by the longest task: a task needs its width on one cluster without a break for its whole duration; for each width the
  longest task, on the cluster where it would end first.

Overheads, start rates and fragments of nodes are left out, so the bound may be below what any batch system can reach.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple


class IdleProfile(NamedTuple):
    """What a cluster leaves: (time in seconds, idle cores from then on), times rising; the last holds for ever.

    A task of `seconds` takes seconds / `speed` there, and none has more than `widest` cores: those of a node.
    """

    idle: Sequence[tuple[float, float]]
    speed: float = 1.0
    widest: float = inf


class TaskLoad(NamedTuple):
    seconds: float
    width: int = 1


def makespan_bound(profiles: Sequence[IdleProfile], bag: Sequence[TaskLoad], since: float = 0.0) -> float:
    """Seconds from `since` before which the bag cannot be done; inf when it never can, 0 for an empty bag."""
    latest = since
    for width in sorted({work.width for work in bag}):
        as_wide = [work for work in bag if work.width >= width]
        latest = max(latest, _end_by_area(profiles, sum(work.seconds * work.width for work in as_wide), width, since))
        longest = max(work.seconds for work in bag if work.width == width)
        ends = (_earliest_end(profile, longest, width, since) for profile in _fitting(profiles, width))
        latest = max(latest, min(ends, default=inf))
    return latest - since


def _end_by_area(profiles: Sequence[IdleProfile], area: float, width: int, since: float) -> float:
    """When so many core-seconds are had from moments with at least `width` idle cores on a cluster."""
    changes: list[tuple[float, float]] = []
    for profile in _fitting(profiles, width):
        rate = 0.0
        for begin, _, cores in _pieces(profile.idle, since):
            after = cores * profile.speed if cores >= width else 0.0
            changes.append((begin, after - rate))
            rate = after
    rate = 0.0
    for (begin, change), (end, _) in pairwise([*sorted(changes), (inf, 0.0)]):
        rate += change
        if rate > 1e-9 and area <= rate * (end - begin):
            return begin + area / rate
        area -= rate * (end - begin) if rate > 1e-9 else 0.0
    return inf if area > 0 else since


def _fitting(profiles: Sequence[IdleProfile], width: int) -> Iterator[IdleProfile]:
    return (profile for profile in profiles if profile.widest >= width)


def _earliest_end(profile: IdleProfile, seconds: float, width: int, since: float) -> float:
    """When a task can have had its width without a break."""
    duration = seconds / profile.speed
    free_since = inf
    for begin, end, cores in _pieces(profile.idle, since):
        free_since = min(free_since, begin) if cores >= width else inf
        if end - free_since >= duration:
            return free_since + duration
    return inf


def _pieces(idle: Sequence[tuple[float, float]], since: float) -> Iterator[tuple[float, float, float]]:
    """(begin, end, cores) from `since` on."""
    for (begin, cores), (end, _) in pairwise([*idle, (inf, 0.0)]):
        if end > since:
            yield max(begin, since), end, cores
