"""What goes wrong on a simulated cluster, by rate or by window; times are seconds since the scenario's start."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from cigri.drivers import RemoteJobState


class FaultWindow(NamedTuple):
    since: float
    until: float


class NodeCrash(NamedTuple):
    """A node is down from `since` to `until`; jobs on it end."""

    node: int
    since: float
    until: float


class BlackHoleNode(NamedTuple):
    """On this node each task of ours ends after 0.1 s with this exit code, undone."""

    node: int
    since: float
    until: float
    exit_code: int = 0


class FaultRates(NamedTuple):
    """`mean_time_between_crashes` is per node, None: never. Probabilities are per job of ours.

    `vanishing`: it is gone at some moment of its run, without records and without a history. `said_waiting`: the list
    shows it waiting while it runs. `said_unknown`: the list has a word for it that nobody knows. `unanswered`: per
    submission, that it is done and its answer lost. `slowness`: seconds per command for each waiting job.
    `preemptions`: per core-second of a besteffort job of ours, that it is preempted for somebody who is not simulated.
    """

    mean_time_between_crashes: float | None = None
    repair_time: float = 3600.0
    crashes: tuple[NodeCrash, ...] = ()
    black_holes: tuple[BlackHoleNode, ...] = ()
    outages: tuple[FaultWindow, ...] = ()
    vanishing: float = 0.0
    said_waiting: float = 0.0
    said_unknown: float = 0.0
    unanswered: float = 0.0
    slowness: float = 0.0
    preemptions: float = 0.0


NO_FAULTS = FaultRates()


class FaultGenerator:
    """The draws of one cluster. Nodes have their own luck: the same ones crash at the same times whatever we submit."""

    def __init__(self, faults: FaultRates, nodes: int, seed: int) -> None:
        self.faults = faults
        self._nodes = nodes
        self._luck_of_nodes = Random(f"{seed} nodes")
        self._luck_of_jobs = Random(f"{seed} jobs")
        for node in [*(crash.node for crash in faults.crashes), *(hole.node for hole in faults.black_holes)]:
            if not 0 <= node < nodes:
                raise ValueError(f"a fault is told of node {node}; there are 0 to {nodes - 1}")
        self._holes: dict[int, list[BlackHoleNode]] = {}
        for hole in faults.black_holes:
            self._holes.setdefault(hole.node, []).append(hole)

    def crashes(self) -> Iterator[NodeCrash]:
        """Those by rate, in the order of time, without end."""
        if self.faults.mean_time_between_crashes is None:
            return
        time = 0.0
        while True:
            time += self._luck_of_nodes.expovariate(self._nodes / self.faults.mean_time_between_crashes)
            yield NodeCrash(self._luck_of_nodes.randrange(self._nodes), time, time + self.faults.repair_time)

    def is_out(self, now: float) -> bool:
        """Is it a time in which the front-end does not answer?"""
        return any(since <= now < until for since, until in self.faults.outages)

    def is_unanswered(self) -> bool:
        """Draw whether the answer to one submission is lost; each call is another draw."""
        return self._happens(self.faults.unanswered)

    def lie(self) -> RemoteJobState | None:
        """Draw what is said of a new job, once it runs, whatever the truth; None: the truth."""
        if self._happens(self.faults.said_waiting):
            return RemoteJobState.WAITING
        return RemoteJobState.UNKNOWN if self._happens(self.faults.said_unknown) else None

    def vanishing(self, seconds: float) -> float | None:
        """Draw after how many seconds a job that would run for `seconds` vanishes; None: it does not."""
        return self._luck_of_jobs.uniform(0.0, seconds) if self._happens(self.faults.vanishing) else None

    def preemption(self, cores: int) -> float | None:
        """Draw after how many seconds a job of so many cores is preempted, if it still runs; None: never."""
        rate = self.faults.preemptions * cores
        return self._luck_of_jobs.expovariate(rate) if rate > 0 else None

    def black_hole(self, node: int, now: float) -> BlackHoleNode | None:
        """What the node does to tasks now; None: they run."""
        return next((hole for hole in self._holes.get(node, ()) if hole.since <= now < hole.until), None)

    def _happens(self, probability: float) -> bool:
        return probability > 0 and self._luck_of_jobs.random() < probability
