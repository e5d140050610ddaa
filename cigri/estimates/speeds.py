"""How fast clusters are for one command: work done there over the seconds that it took; pure.

The work of a task that ran before is what it was expected to take at speed 1, of any other the mean of all that were
done. So it does no harm that long tasks are sent to fast clusters, as it would to compare the means of durations.
"""

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

FEWEST_FOR_SPEED = 3  # successful tasks on a cluster that tell how fast it is


class CompletedWork(NamedTuple):
    """`done` tasks took `seconds` in all; `known` of them were expected to take `expected` seconds at speed 1."""

    done: int
    seconds: float
    known: int = 0
    expected: float = 0.0


def speeds(works: Mapping[int, CompletedWork]) -> dict[int, float]:
    """By cluster: the work of its tasks over the seconds they took; those with too few tasks are left out.

    work = expected + mean * (done - known), with the mean duration of the done tasks of all these clusters. So a
    cluster of speed 1 takes the mean time for a task of the mean work. It is assumed that tasks of which nothing is
    known are as much work on one cluster as on another.
    """
    done = sum(work.done for work in works.values())
    mean = sum(work.seconds for work in works.values()) / done if done else 0.0
    measured = {
        id: (work.expected + mean * max(work.done - work.known, 0)) / work.seconds
        for id, work in works.items()
        if work.done >= FEWEST_FOR_SPEED and work.seconds > 0
    }
    return {id: speed for id, speed in measured.items() if 0 < speed < inf}


def known_speeds(works: Mapping[int, CompletedWork], before: Mapping[int, float]) -> dict[int, float]:
    """As measured now on tasks that ran before, else as in earlier campaigns (`before`); empty: nothing is known."""
    return {**before, **{id: speed for id, speed in speeds(works).items() if works[id].known >= FEWEST_FOR_SPEED}}
