"""What is measured while a simulated cluster runs: exact integrals over virtual time, and the steps of what changes."""

from collections.abc import Mapping
from enum import StrEnum


class Waste(StrEnum):
    """What became of our core-seconds that were of no use. OVERHEAD: a job has cores, and no task runs yet."""

    FAILED = "failed"
    TIMEOUT = "timeout"
    PREEMPTED = "preempted"
    KILLED = "killed"
    NODE_FAILED = "node_failed"
    VANISHED = "vanished"
    BLACK_HOLE = "black_hole"
    OVERHEAD = "overhead"


class Steps:
    """A piecewise constant figure: `points` are (time, value from then on)."""

    points: list[tuple[float, float]]


class Meters:
    """Core-seconds up to the batch system's now; total = local + ours + free + claimed + unavailable.

    `claimed` are cores idle for a local job whose start waits for a kill; `harvestable` is ours + free. `ours` is
    useful + the sum of `wasted` + what runs still.
    """

    total: float
    local: float
    ours: float
    free: float
    claimed: float
    unavailable: float
    harvestable: float
    useful: float
    wasted: Mapping[Waste, float]
    waiting: Steps  # jobs of ours
    idle: Steps  # cores that are up and not local jobs': the profile that a clairvoyant would fill
    local_starts: dict[int, float]  # by the number of the job in the load, from 0
    local_refused: int  # wider than the machine
    starts: dict[int, int]  # jobs started, anybody's, in each second that had one
