"""What is measured while a simulated cluster runs: exact integrals over virtual time, and the steps of what changes."""

from array import array
from collections import Counter
from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import NamedTuple, overload


class CoreUse(IntEnum):
    """What a core is doing. CLAIMED: it idles for a job that waits until another one is killed."""

    FREE = 0
    LOCAL = 1
    OURS = 2
    CLAIMED = 3
    UNAVAILABLE = 4


class WasteKind(StrEnum):
    """What became of our core-seconds that were of no use. OVERHEAD: a job has cores, and no task runs yet."""

    FAILED = "failed"
    TIMEOUT = "timeout"
    PREEMPTED = "preempted"
    KILLED = "killed"
    NODE_FAILED = "node_failed"
    VANISHED = "vanished"
    BLACK_HOLE = "black_hole"
    OVERHEAD = "overhead"


class LostRun(NamedTuple):
    """A job of ours that ended before its time: how many cores it had and from when to when, and the work it lost."""

    kind: WasteKind
    since: float
    until: float
    cores: int
    work: float


class TimeSeries(Sequence[tuple[float, float]]):
    """(time, value from then on), times rising; in two arrays, since a week has millions of them."""

    def __init__(self, value: float) -> None:
        self._times, self._values = array("d", [0.0]), array("d", [value])

    def __len__(self) -> int:
        return len(self._times)

    @overload
    def __getitem__(self, place: int) -> tuple[float, float]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[float, float]]: ...
    def __getitem__(self, place: int | slice) -> tuple[float, float] | list[tuple[float, float]]:
        if isinstance(place, slice):
            return list(zip(self._times[place], self._values[place], strict=True))
        return self._times[place], self._values[place]

    def put(self, time: float, value: float) -> None:
        """From the last point's time on, or later."""
        if self._times[-1] == time:
            self._values[-1] = value
        else:
            self._times.append(time)
            self._values.append(value)


class StepFunction:
    """A piecewise constant figure."""

    def __init__(self, value: float) -> None:
        self.points = TimeSeries(value)

    def set(self, time: float, value: float) -> None:
        """The value from this time on; times never fall, and of one instant the last value counts."""
        last, before = self.points[-1]
        if last == time or before != value:
            self.points.put(time, value)


class ClusterMeters:
    """Core-seconds up to the last `settle`: total = local + ours + free + claimed + unavailable.

    `ours` is `useful` + the sum of `wasted` + what runs still.
    """

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.useful = 0.0
        self.wasted = dict.fromkeys(WasteKind, 0.0)
        self.losses: list[LostRun] = []
        """Of the wasted, what was killed, in the order of the ends."""
        self.waiting = StepFunction(0)
        """Jobs of ours that wait."""
        self.idle = StepFunction(cores)
        """Cores that no local job has: in a run without us, the profile that a clairvoyant would fill."""
        self.free_cores = StepFunction(cores)
        self.our_cores = StepFunction(0)
        self.local_starts: dict[int, float] = {}
        """By the number of the job in the load, from 0."""
        self.local_refused = 0
        """Local jobs wider than the machine."""
        self.starts: Counter[int] = Counter()
        """Jobs started, anybody's, in each second that had one."""
        self._served: dict[str, tuple[float, int, float]] = {}  # since then so many cores, and core-seconds before
        self._now = 0.0
        self._levels = [cores, 0, 0, 0, 0]
        self._sums = [0.0] * len(CoreUse)

    def move(self, now: float, cores: int, source: CoreUse, target: CoreUse) -> None:
        """So many cores do something else from now on."""
        self.settle(now)
        self._levels[source] -= cores
        self._levels[target] += cores
        self.idle.set(now, self._levels[CoreUse.FREE] + self._levels[CoreUse.OURS])
        self.free_cores.set(now, self._levels[CoreUse.FREE])
        self.our_cores.set(now, self._levels[CoreUse.OURS])

    def lose(self, loss: LostRun) -> None:
        """Note a job of ours that ended before its time; its work counts as wasted."""
        self.wasted[loss.kind] += loss.work
        self.losses.append(loss)

    def serve(self, now: float, owner: str, cores: int) -> None:
        """So many cores more, or fewer, run jobs of this user of the grid from now on."""
        since, held, before = self._served.get(owner, (now, 0, 0.0))
        self._served[owner] = now, held + cores, before + held * (now - since)

    def received(self, now: float) -> dict[str, float]:
        """Core-seconds of each user of the grid, of jobs that run still too."""
        return {owner: before + held * (now - since) for owner, (since, held, before) in self._served.items()}

    def settle(self, now: float) -> None:
        """Add the core-seconds since the last call to the sums; until then they are not in them."""
        seconds = now - self._now
        if seconds > 0:
            self._now = now
            for use, level in enumerate(self._levels):
                self._sums[use] += level * seconds

    def level(self, use: CoreUse) -> int:
        """How many cores are used so at this moment."""
        return self._levels[use]

    @property
    def total(self) -> float:
        """Of all cores, whatever they did, in core-seconds as the following are."""
        return self.cores * self._now

    @property
    def local(self) -> float:
        """Of jobs of the cluster's own users."""
        return self._sums[CoreUse.LOCAL]

    @property
    def ours(self) -> float:
        """Of jobs of the grid, whether or not they were of use."""
        return self._sums[CoreUse.OURS]

    @property
    def free(self) -> float:
        """Of cores that were up, and that nobody had."""
        return self._sums[CoreUse.FREE]

    @property
    def claimed(self) -> float:
        """Of cores that idled for a job that waited until others were killed for it."""
        return self._sums[CoreUse.CLAIMED]

    @property
    def unavailable(self) -> float:
        """Of nodes that were down."""
        return self._sums[CoreUse.UNAVAILABLE]

    @property
    def harvestable(self) -> float:
        """What local jobs left us, used or not."""
        return self.ours + self.free
