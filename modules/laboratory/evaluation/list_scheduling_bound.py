"""How early a bag of tasks would end for one who knows nothing of what is to come, but loses no time; pure.

It is list scheduling (Graham 1966): as soon as cores are idle, the first task in line that fits starts, on the fastest
cluster that has them. It knows no duration, and local jobs that come take the cores of the youngest tasks, which go to
the head of the line. Nothing else takes time, so that no scheduler that is blind as well can be expected to be faster.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from modules.laboratory.evaluation.clairvoyant import IdleProfile, TaskLoad


class _IdleCluster:
    def __init__(self, profile: IdleProfile) -> None:
        self.profile = profile
        self.idle = 0.0
        self.used = 0
        self.running: dict[int, tuple[int, TaskLoad]] = {}  # by number of the start: place in line, and the task

    @property
    def free(self) -> float:
        return min(self.idle - self.used, self.profile.widest)


class _TaskQueue:
    """Tasks that wait, first come first served among those that fit."""

    def __init__(self) -> None:
        self._by_width: dict[int, list[tuple[int, TaskLoad]]] = defaultdict(list)

    def put(self, place: int, work: TaskLoad) -> None:
        heappush(self._by_width[work.width], (place, work))

    def take(self, free: float) -> tuple[int, TaskLoad] | None:
        fitting = [tasks for width, tasks in self._by_width.items() if tasks and width <= free]
        return heappop(min(fitting, key=lambda tasks: tasks[0][0])) if fitting else None


class _ScheduleEvent(NamedTuple):
    """Ends first, then what local jobs leave, then what is submitted."""

    at: float
    kind: int
    number: int
    cluster: int = -1
    idle: float = 0.0


END, CHANGE, ARRIVAL = range(3)


def blind_makespan(profiles: Sequence[IdleProfile], bags: Iterable[tuple[float, Sequence[TaskLoad]]]) -> float:
    """Seconds from the first submission to the last end of the bags, each submitted at its time; inf for never."""
    tasks = [(at, work) for at, bag in sorted(bags, key=lambda bag: bag[0]) for work in bag]
    if not tasks:
        return 0.0
    clusters = sorted(map(_IdleCluster, profiles), key=lambda cluster: -cluster.profile.speed)
    events = [_ScheduleEvent(at, ARRIVAL, place) for place, (at, _) in enumerate(tasks)]
    for number, cluster in enumerate(clusters):
        events += [
            _ScheduleEvent(at, CHANGE, place, number, idle) for place, (at, idle) in enumerate(cluster.profile.idle)
        ]
    heapify(events)
    line, starts, left, now = _TaskQueue(), count(), len(tasks), 0.0
    while left and events:
        now = events[0].at
        while events and events[0].at == now:
            event = heappop(events)
            if event.kind == ARRIVAL:
                line.put(event.number, tasks[event.number][1])
            elif event.kind == CHANGE:
                _change(clusters[event.cluster], event.idle, line)
            elif (ended := clusters[event.cluster].running.pop(event.number, None)) is not None:
                clusters[event.cluster].used -= ended[1].width
                left -= 1
        for number, cluster in enumerate(clusters):
            while (task := line.take(cluster.free)) is not None:
                start = next(starts)
                cluster.running[start] = task
                cluster.used += task[1].width
                heappush(events, _ScheduleEvent(now + task[1].seconds / cluster.profile.speed, END, start, number))
    return inf if left else now - tasks[0][0]


def _change(cluster: _IdleCluster, idle: float, line: _TaskQueue) -> None:
    cluster.idle = idle
    while cluster.used > idle:
        _, (place, work) = cluster.running.popitem()
        cluster.used -= work.width
        line.put(place, work)
