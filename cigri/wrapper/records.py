"""The lines that the wrapper writes: what became of a task, in its own words."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

LASTED_SLACK = timedelta(minutes=1)  # that a task may have lasted longer than its job is known
IMPOSSIBLE = -1
SKEW = timedelta(days=1)  # of the clock of a node


class TaskEndCause(StrEnum):
    """Why a task has the exit code it has."""

    EXIT = "exit"  # its own
    SIGNAL = "signal"  # killed by the signal exit code - 128
    TERMINATED = "terminated"  # the batch system ended the job with SIGTERM
    WALLTIME = "walltime"  # the batch system gave notice of the walltime
    DIRECTORY = "directory"  # 72, not run: its directory can be neither made nor entered
    INPUTS = "inputs"  # 72, not run: an input is no longer in the cache
    SCRATCH = "scratch"  # 73, not run: no fresh scratch directory on the node
    OUTPUT = "output"  # 73, not run: its output files could not be created
    MISSING = "missing"  # 71: an output that the campaign names is not there
    DISK = "disk"  # 73: a disk or quota is full, and its outputs could not be kept
    UNMOVED = "unmoved"  # 73: its outputs could not be kept


class TaskUse(NamedTuple):
    """What a task used, with all processes that it waited for: milliseconds of processors, bytes by read and write.

    `peak`: the most memory, in bytes, that it and the processes below it were seen with. None: nobody told.
    """

    cpu_ms: int | None
    read: int | None
    written: int | None
    peak: int | None = None


class TaskRecord(NamedTuple):
    """The end of one task; the start since 1970 by the node's clock; node and remote id are "" when not known.

    The times are IMPOSSIBLE once they were found so. `files` and `bytes` are those of its outputs; `use` is None of a
    task that did not run, or in a job of earlier versions.
    """

    job_id: int
    task_id: int
    attempt: int
    position: int
    exit_code: int
    cause: TaskEndCause
    start_ms: int
    duration_ms: int
    node: str
    remote_id: str
    files: int = 0
    bytes: int = 0
    use: TaskUse | None = None

    def possible(self, submitted: datetime | None, now: datetime) -> "TaskRecord":
        """Without the times that cannot be for a job submitted then; how the task ended is another matter."""
        if submitted is None:
            return self
        if timedelta(milliseconds=self.duration_ms) > now - submitted + LASTED_SLACK:
            return self._replace(start_ms=IMPOSSIBLE, duration_ms=IMPOSSIBLE)
        earliest, latest = (submitted - SKEW).timestamp(), (now + SKEW).timestamp()
        return self if earliest <= self.start_ms / 1000 <= latest else self._replace(start_ms=IMPOSSIBLE)

    @property
    def started(self) -> float | None:
        """Seconds since 1970 by the node's clock; None where that cannot be."""
        return None if self.start_ms == IMPOSSIBLE else self.start_ms / 1000

    @property
    def seconds(self) -> float | None:
        """Seconds that the task ran; None where that cannot be."""
        return None if self.duration_ms == IMPOSSIBLE else self.duration_ms / 1000


@dataclass(frozen=True, slots=True)
class StartRecord:
    """The claim of an array index."""

    index: int
    start_ms: int
    node: str
    remote_id: str


# a user can write any line: numbers are such as the database can hold, times are before the year 2286
ID, TIME, WORD = r"(\d{1,18})", r"(\d{1,13})", "([!-~]{1,200})"
USED_AMOUNT = r"(\d{0,15})"
PEAK_KILOBYTES = r"(\d{0,12})"
END_RECORD = re.compile(
    rf"end (?:1|2) {ID} {ID} {ID} {ID} (\d{{1,3}}) ({'|'.join(TaskEndCause)}) {TIME} {TIME} {WORD} {WORD} "
    rf"(?:{ID} {ID} )?"
    rf"(use={USED_AMOUNT}:{USED_AMOUNT}:{USED_AMOUNT}(?::{PEAK_KILOBYTES})? )?\.",
    re.ASCII,
)
STOP = re.compile(rf"stop 1 {ID} \.", re.ASCII)
START_RECORD = re.compile(rf"start (?:1|2) {ID} {TIME} {WORD} {WORD} (?:{WORD} {WORD} {WORD} {WORD} )?\.", re.ASCII)
REVOKED = re.compile(rf"revoked 1 {ID} \.", re.ASCII)


def parse_end(line: str) -> TaskRecord | None:
    """The record, or None when the line is not a complete one."""
    record = END_RECORD.fullmatch(line)
    if not record:
        return None
    job_id, task_id, attempt, position, exit_code = (int(record[part]) for part in range(1, 6))
    start_ms, duration_ms = int(record[7]), int(record[8])
    node, remote_id = _known(record[9]), _known(record[10])
    cause, brought = TaskEndCause(record[6]), (int(record[11] or 0), int(record[12] or 0))
    use = _use(*record.group(14, 15, 16, 17)) if record[13] else None
    return TaskRecord(
        job_id, task_id, attempt, position, exit_code, cause, start_ms, duration_ms, node, remote_id, *brought, use
    )


def parse_start(line: str) -> StartRecord | None:
    """The claim, or None when the line is not a complete one."""
    record = START_RECORD.fullmatch(line)
    return StartRecord(int(record[1]), int(record[2]), _known(record[3]), _known(record[4])) if record else None


def is_stop(line: str) -> bool:
    """Whether the line says that the job ended in order, and began no task that has no record."""
    return STOP.fullmatch(line) is not None


def is_revoked(line: str) -> bool:
    """Whether the line says that the index was claimed by the grid, so that no job can start with it."""
    return REVOKED.fullmatch(line) is not None


def _use(cpu_ms: str, read: str, written: str, peak: str | None) -> TaskUse:
    kilobytes = int(peak or 0)
    return TaskUse(_amount(cpu_ms), _amount(read), _amount(written), kilobytes * 1024 if kilobytes else None)


def _amount(digits: str) -> int | None:
    return int(digits) if digits else None


def _known(word: str) -> str:
    return "" if word == "-" else word
