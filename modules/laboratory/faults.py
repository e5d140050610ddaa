"""What goes wrong on a simulated cluster, by rate or by window; times are seconds since the scenario's start."""

from typing import NamedTuple


class Window(NamedTuple):
    since: float
    until: float


class Crash(NamedTuple):
    """A node is down from `since` to `until`; jobs on it end."""

    node: int
    since: float
    until: float


class BlackHole(NamedTuple):
    """On this node each task of ours ends after 0.1 s with this exit code, undone."""

    node: int
    since: float
    until: float
    exit_code: int = 0


class Faults(NamedTuple):
    """`mean_time_between_crashes` is per node, None: never. Probabilities are per job of ours.

    `vanishing`: it is gone at some moment of its run, without records and without a history. `said_waiting`: the list
    shows it waiting while it runs. `said_unknown`: the list has a word for it that nobody knows. `unanswered`: per
    submission, that it is done and its answer lost. `slowness`: seconds per command for each waiting job.
    """

    mean_time_between_crashes: float | None = None
    repair_time: float = 3600.0
    crashes: tuple[Crash, ...] = ()
    black_holes: tuple[BlackHole, ...] = ()
    outages: tuple[Window, ...] = ()
    vanishing: float = 0.0
    said_waiting: float = 0.0
    said_unknown: float = 0.0
    unanswered: float = 0.0
    slowness: float = 0.0


NO_FAULTS = Faults()
