"""A small grid that takes as long as the real one; pure.

`cores` real cores are one simulated core, on every cluster, and as many tasks of each campaign are one: what the work
takes is the same, and so is the last task. Of a campaign whose tasks fill its cores many times, several tasks are one
that lasts as long as they do one after the other: the more rounds, the less the last one matters.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

from modules.laboratory.whatif.durations import TaskDurationModel

MOST_SIMULATED_TASKS = 80
WAVES = 5  # of tasks on the cores of a campaign, that are left of more
PAIRED_WAVES = 20  # where a task of another campaign waits for each of them
LOOKS = 10  # cycles until the campaign would end, alone on the grid
LOOKS_AT_ALL = 12  # cycles until all would have ended
STEADY_WAVES = 10  # cycles of equal length, before they grow
SCALE_GROWTH = 1.15


class RemainingWork(NamedTuple):
    """What a campaign still has to do: cores of a job by cluster, and the most jobs it may have at a time."""

    tasks: int
    durations: TaskDurationModel
    widths: Mapping[int, int]
    most: int | None = None


class GridScale(NamedTuple):
    """`cores` as above; `together` by campaign: tasks that are one; `cycle`: seconds between two cycles at first.

    `all_work`: seconds until everything would have ended.
    """

    cores: float
    together: Mapping[int, int]
    cycle: float
    all_work: float

    def tasks(self, campaign_id: int, tasks: int, luck: Random) -> int:
        """How many simulated tasks stand for so many real ones of this campaign, rounded by `luck`."""
        return rounded(tasks / self.cores / self.together[campaign_id], luck)

    def count(self, most: int) -> int:
        """A limit on jobs or cores; one that allows something still does."""
        return max(1, round(most / self.cores)) if most > 0 else 0

    def pause(self, cycles: int, now: float) -> float:
        """Seconds from one cycle to the next: longer ones late, when a second more or less is nothing."""
        grown = self.cycle * SCALE_GROWTH ** max(0, cycles - STEADY_WAVES)
        return min(grown, max(self.cycle, self.all_work / LOOKS_AT_ALL)) if now < 2 * self.all_work else grown


def scale(
    works: Mapping[int, RemainingWork],
    own: Collection[int],
    rooms: Mapping[int, int],
    cycle: float,
    pairs: Sequence[tuple[int, int]] = (),
) -> GridScale:
    """`rooms`: cores that others leave, by cluster; `cycle`: seconds of a real one, none is shorter.

    The two of each of `pairs` have tasks that stand for as many, which are few.
    """
    slots = {campaign_id: _slots(work, rooms) for campaign_id, work in works.items()}
    waves = {campaign_id: PAIRED_WAVES for pair in pairs for campaign_id in pair}
    together = {
        campaign_id: max(1, math.floor(work.tasks / slots[campaign_id] / waves.get(campaign_id, WAVES)))
        for campaign_id, work in works.items()
    }
    for one, other in [*pairs, *reversed(pairs)]:
        together[one] = together[other] = min(together[one], together[other])
    played = sum(work.tasks / together[campaign_id] for campaign_id, work in works.items())
    cores = max(1.0, played / MOST_SIMULATED_TASKS)
    alone = min(_seconds(works[campaign_id], slots[campaign_id]) for campaign_id in own)
    shortest = min(works[campaign_id].durations.mean * together[campaign_id] for campaign_id in own)
    everything = sum(_seconds(work, slots[campaign_id]) for campaign_id, work in works.items())
    return GridScale(cores, together, max(cycle, min(alone / LOOKS, shortest / 2)), everything)


def shared_out(parts: Mapping[int, float], luck: Random) -> dict[int, int]:
    """Each up or down, so that the mean is the part, and the sum is as near as can be."""
    shares, sum_so_far, before = {}, luck.random(), 0
    for key in luck.sample(list(parts), len(parts)):
        sum_so_far += parts[key]
        shares[key] = math.floor(sum_so_far) - before
        before = math.floor(sum_so_far)
    return shares


def rounded(number: float, luck: Random) -> int:
    """Up or down, so that the mean is the number."""
    return math.floor(number + luck.random())


def _slots(work: RemainingWork, rooms: Mapping[int, int]) -> int:
    slots = sum(rooms.get(cluster_id, 0) // width for cluster_id, width in work.widths.items())
    return max(1, slots if work.most is None else min(slots, work.most))


def _seconds(work: RemainingWork, slots: int) -> float:
    return max(1.0, work.tasks / slots) * work.durations.mean
