"""The lines that the wrapper writes: what became of a task, in its own words."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Cause(StrEnum):
    """Why a task has the exit code it has."""

    EXIT = "exit"  # its own
    SIGNAL = "signal"  # killed by the signal exit code - 128
    TERMINATED = "terminated"  # the batch system ended the job with SIGTERM
    WALLTIME = "walltime"  # the batch system gave notice of the walltime
    DIRECTORY = "directory"  # 72, not run: its directory can be neither made nor entered
    SCRATCH = "scratch"  # 73, not run: no fresh scratch directory on the node
    OUTPUT = "output"  # 73, not run: its output files could not be created


class TaskRecord(NamedTuple):
    """The end of one task; the start since 1970 by the node's clock; node and remote id are "" when not known."""

    job_id: int
    task_id: int
    attempt: int
    position: int
    exit_code: int
    cause: Cause
    start_ms: int
    duration_ms: int
    node: str
    remote_id: str


@dataclass(frozen=True, slots=True)
class StartRecord:
    """The claim of an array index."""

    index: int
    start_ms: int
    node: str
    remote_id: str


# a user can write any line: numbers are such as the database can hold, times are before the year 2286
ID, TIME, WORD = r"(\d{1,18})", r"(\d{1,13})", "([!-~]{1,200})"
END = re.compile(rf"end 1 {ID} {ID} {ID} {ID} (\d{{1,3}}) ({'|'.join(Cause)}) {TIME} {TIME} {WORD} {WORD} \.", re.ASCII)
STOP = re.compile(rf"stop 1 {ID} \.", re.ASCII)
START = re.compile(rf"start 1 {ID} {TIME} {WORD} {WORD} \.", re.ASCII)


def parse_end(line: str) -> TaskRecord | None:
    """The record, or None when the line is not a complete one."""
    found = END.fullmatch(line)
    if not found:
        return None
    job_id, task_id, attempt, position, exit_code = (int(found[part]) for part in range(1, 6))
    start_ms, duration_ms = int(found[7]), int(found[8])
    node, remote_id = _known(found[9]), _known(found[10])
    return TaskRecord(
        job_id, task_id, attempt, position, exit_code, Cause(found[6]), start_ms, duration_ms, node, remote_id
    )


def parse_start(line: str) -> StartRecord | None:
    """The claim, or None when the line is not a complete one."""
    found = START.fullmatch(line)
    return StartRecord(int(found[1]), int(found[2]), _known(found[3]), _known(found[4])) if found else None


def is_stop(line: str) -> bool:
    """Whether the line says that the job ended in order, and began no task that has no record."""
    return STOP.fullmatch(line) is not None


def _known(word: str) -> str:
    return "" if word == "-" else word
