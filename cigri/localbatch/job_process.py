"""A job under way: when something has to be done to it, and what its end means."""

import math
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from cigri.localbatch import processes
from cigri.localbatch.backfill_queue import JobArray
from cigri.localbatch.features import PEAKS
from cigri.localbatch.memory import MemoryOfJob
from cigri.localbatch.processes import RootProcess
from cigri.localbatch.store import LocalJobRow, LocalJobState

GRACE_BEFORE_KILL = 5.0
"""Seconds between SIGTERM and SIGKILL of a cancelled job."""

LOOK_SECONDS = 1.0
"""How often the memory of a job that asked for some is looked at; others after ten looks only every fifth time."""
QUICK_LOOKS = 10
SLOW_FACTOR = 5


class EndReason(StrEnum):
    """Why we end a job."""

    NONE = ""
    CANCELLED = "cancelled"
    WALLTIME = "walltime"
    MEMORY = "memory"


class JobResult(NamedTuple):
    """How a job ended."""

    state: LocalJobState
    exit_code: int | None
    reason: str = ""


@dataclass(eq=False, slots=True)
class JobProcess:
    """One job and its first process. Times are on the monotonic clock, which a new daemon shares until the reboot."""

    array: JobArray
    job: LocalJobRow
    process: RootProcess
    doom: EndReason = EndReason.NONE
    due: float = 0.0  # when enforce() has something to do
    scratch: str = ""  # its directory
    features: str = ""  # those that say what it may use; unknown of a job that an earlier daemon started
    has_cores: bool = True  # while it is suspended others may have them
    memory: MemoryOfJob = field(init=False)
    looks: int = 0
    look_due: float = 0.0
    held: int = 0  # MB that it had when it was too much

    def __post_init__(self) -> None:
        self.memory = MemoryOfJob(f"{self.features}/{PEAKS}" if self.features else "")
        self.look_due = self.job.began + LOOK_SECONDS
        self._set_due()

    def _set_due(self) -> None:
        if self.doom:
            return
        if self.job.state is LocalJobState.SUSPENDED:
            self.due = math.inf
            return
        limit = self.job.began + self.array.walltime
        self.due = limit - self.array.notice if 0 < self.array.notice < self.array.walltime else limit

    def suspend(self, now: float) -> bool:
        """Stop all its processes and its clock; False when that is so already, or it has to die."""
        if self.doom or self.job.state is LocalJobState.SUSPENDED:
            return False
        processes.sweep(self.process.mark, self.process.pid, signal.SIGSTOP)
        self.job = self.job._replace(state=LocalJobState.SUSPENDED, began=now - self.job.began)
        self.due = math.inf
        return True

    def resume(self, now: float) -> bool:
        """Let it go on; False when it does already."""
        if self.job.state is not LocalJobState.SUSPENDED:
            return False
        self.job = self.job._replace(state=LocalJobState.RUNNING, began=now - self.job.began)
        self._set_due()
        processes.sweep(self.process.mark, self.process.pid, signal.SIGCONT)
        return True

    def enforce(self, now: float) -> bool:
        """Do what is due; whether the doom changed and must be stored."""
        limit = self.job.began + self.array.walltime
        if now < limit and not self.doom:
            processes.send(self.process, signal.SIGXCPU)
            self.due = limit
            return False
        changed = not self.doom
        self.doom = self.doom or EndReason.WALLTIME
        processes.kill_group(self.process)
        self.due = math.inf
        return changed

    def look(self, now: float, orphans: Iterable[int]) -> bool:
        """See what memory it has; whether that is more than it asked for, so that it has to die."""
        limit = self.array.need.get("mem", 0) * 1024
        self.looks += 1
        is_quick = limit > 0 or self.looks < QUICK_LOOKS
        self.look_due = now + (LOOK_SECONDS if is_quick else SLOW_FACTOR * LOOK_SECONDS)
        if self.doom or self.job.state is LocalJobState.SUSPENDED:
            return False
        mine = [pid for pid in orphans if processes.belongs(pid, self.process.mark, self.process.pid)]
        held = self.memory.look(self.process.pid, mine, limit)
        if held <= limit:
            return False
        self.held, self.doom, self.due = math.ceil(held / 1024), EndReason.MEMORY, math.inf
        processes.kill_group(self.process)
        return True

    def cancel(self, now: float) -> bool:
        """SIGTERM, and SIGKILL after the grace; whether the doom changed and must be stored."""
        if self.doom:
            return False
        self.resume(now)
        self.doom = EndReason.CANCELLED
        processes.send(self.process, signal.SIGTERM)
        self.due = min(now + GRACE_BEFORE_KILL, self.job.began + self.array.walltime)
        return True

    def end(self, code: int | None) -> JobResult:
        """What the exit code of its first process means; -n: died of signal n, None: nobody knows."""
        if self.doom is EndReason.CANCELLED:
            return JobResult(LocalJobState.KILLED, shell_code(code), "cancelled")
        if self.doom is EndReason.WALLTIME or code == -signal.SIGXCPU:
            return JobResult(LocalJobState.TIMEOUT, shell_code(code), f"walltime of {self.array.walltime} s")
        if self.doom is EndReason.MEMORY:
            asked = f"it asked for {self.array.need.get('mem', 0)} MB of memory"
            had = f"had {self.held} MB" if self.held else "had more"  # another daemon has seen how much
            return JobResult(LocalJobState.OUT_OF_MEMORY, shell_code(code), f"{asked} and {had}")
        if code is None:
            return JobResult(LocalJobState.VANISHED, None, "ended unseen")
        return JobResult(LocalJobState.FAILED if code else LocalJobState.SUCCEEDED, shell_code(code))


def shell_code(code: int | None) -> int | None:
    """The exit code as a shell gives it: 128 + n for a death by signal n."""
    return 128 - code if code is not None and code < 0 else code
