"""Which waiting jobs start: first come first served with EASY backfill, and who makes room; pure."""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice
from math import ceil, inf
from typing import NamedTuple, Protocol, TypeVar

from modules.laboratory.cluster.free_cores import FreeCores, Places


class SizedJob(Protocol):
    """What a scheduler knows of a job."""

    @property
    def cores(self) -> int:
        """That it asks for, in all."""
        ...

    @property
    def walltime(self) -> float:
        """Seconds after which it is killed."""
        ...


class PlacedJob(Protocol):
    """A job that has cores."""

    @property
    def places(self) -> Places:
        """The cores that it has, by node."""
        ...

    @property
    def expected_end(self) -> float:
        """By its walltime, in seconds since the scenario's start."""
        ...


class NodeReservation(NamedTuple):
    """Nodes (a mask) kept for a job that will fit there at `until`."""

    nodes: int
    until: float


WaitingJob = TypeVar("WaitingJob", bound=SizedJob)


def easy(
    queue: Iterable[WaitingJob],
    running: Sequence[tuple[float, int, int]],
    available: int,
    now: float,
    depth: int,
    most: int,
) -> list[WaitingJob]:
    """The jobs to start now, at most `most`: Lifka's EASY. `running` is (expected end, number, cores), sorted.

    Jobs start in order until one does not fit; that one gets a reservation, and of the next `depth` those start that
    do not delay it: they end before it, or are content with cores that it leaves.
    """
    chosen: list[WaitingJob] = []
    waiting = iter(queue)
    for head in waiting:
        if len(chosen) >= most:
            return chosen
        if head.cores > available:
            break
        chosen.append(head)
        available -= head.cores
    else:
        return chosen
    started = sorted((now + job.walltime, 0, job.cores) for job in chosen)
    shadow, spare = reservation(head.cores, available, merge(running, started))
    for job in islice(waiting, depth):
        if len(chosen) >= most or not available:
            break
        is_in_time = now + job.walltime <= shadow
        if job.cores > available or not (is_in_time or job.cores <= spare):
            continue
        chosen.append(job)
        available -= job.cores
        spare -= 0 if is_in_time else job.cores
    return chosen


def reservation(cores: int, available: int, ends: Iterable[tuple[float, int, int]]) -> tuple[float, int]:
    """When so many cores will be available, by walltimes, and how many more will be then; (inf, 0) when never."""
    for end, _, freed in ends:
        available += freed
        if available >= cores:
            return end, available - cores
    return inf, 0


def victims(killable: Iterable[WaitingJob], cores: int) -> list[WaitingJob]:
    """Just enough of these that so many cores come free; of those that are not needed the last given are spared."""
    chosen: list[WaitingJob] = []
    excess = -cores
    for job in killable:
        if excess >= 0:
            break
        chosen.append(job)
        excess += job.cores
    needed = []
    for job in reversed(chosen):
        if job.cores <= excess:
            excess -= job.cores
        else:
            needed.append(job)
    return needed


def hold(cores: int, nodes: FreeCores, running: Iterable[PlacedJob], excluded: int = 0) -> NodeReservation | None:
    """The nodes that will be free soonest, by walltimes, for a job that finds no room; None while too many are down."""
    need = min(cores, nodes.cores_per_node)
    ends: dict[int, list[tuple[float, int]]] = {node: [] for node in nodes.up() if not excluded >> node & 1}
    for job in running:
        for node, held in job.places:
            if node in ends:
                ends[node].append((job.expected_end, held))
    soonest = sorted((_ready(nodes.free_on(node), need, ends[node]), node) for node in ends)
    chosen = soonest[: ceil(cores / nodes.cores_per_node)]
    if len(chosen) * need < cores:
        return None
    return NodeReservation(sum(1 << node for _, node in chosen), chosen[-1][0])


def _ready(free: int, need: int, ends: list[tuple[float, int]]) -> float:
    if free >= need:
        return -inf
    for end, held in sorted(ends):
        free += held
        if free >= need:
            return end
    return inf
