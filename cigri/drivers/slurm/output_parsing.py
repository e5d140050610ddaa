"""The tables of squeue and sacct, read.

Each begins with its own header and ends with a line of ours, so that no cut or empty answer passes for "no jobs".
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.drivers.slurm.waiting_reasons import interpret
from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult

STATE_WORDS = {
    RemoteJobState.WAITING: "PENDING REQUEUED REQUEUE_FED",
    RemoteJobState.HELD: "REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT",
    RemoteJobState.RUNNING: "CONFIGURING RUNNING RESIZING SIGNALING STAGE_OUT COMPLETING",
    RemoteJobState.SUSPENDED: "SUSPENDED STOPPED",
    RemoteJobState.SUCCEEDED: "COMPLETED",
    RemoteJobState.FAILED: "FAILED",
    RemoteJobState.KILLED: "CANCELLED DEADLINE",
    RemoteJobState.PREEMPTED: "PREEMPTED",
    RemoteJobState.TIMEOUT: "TIMEOUT",
    RemoteJobState.NODE_FAILED: "NODE_FAIL BOOT_FAIL",
    RemoteJobState.OUT_OF_MEMORY: "OUT_OF_MEMORY",
    RemoteJobState.UNKNOWN: "REVOKED",  # a federation runs it elsewhere under the same id
}
SLURM_STATES = {word: state for state, words in STATE_WORDS.items() for word in words.split()}
HOLDS = {"JobHeldUser", "JobHeldAdmin"}
ENDED_BY_ITSELF = {RemoteJobState.SUCCEEDED, RemoteJobState.FAILED, RemoteJobState.OUT_OF_MEMORY}
END_OF_ANSWER = "cigri-end"
SQUEUE_FIELDS = "ArrayJobID ArrayTaskID State exit_code RestartCnt StartTime EndTime NodeList Reason Name"
SQUEUE_HEADER = "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|EXIT_CODE|RESTART_COUNT|START_TIME|END_TIME|NODELIST|REASON|NAME|"
SACCT_HEADER = "JobID|State|ExitCode|Submit|Start|End|NodeList|JobName"


class SlurmRow(NamedTuple):
    """One line of squeue or sacct: a task of an array, or all those that share a state."""

    array: str
    indexes: str
    word: str
    exit_code: int
    restarts: int
    started: str
    ended: str
    nodes: str
    reason: str
    name: str
    submitted: str = ""


def read_tables(answer: ShellResult) -> Iterator[tuple[str, list[SlurmRow]]]:
    """Header and rows of each table; each is ended by our own line."""
    *tables, after_end = answer.out.split(f"{END_OF_ANSWER}\n")
    if not tables or after_end.strip():
        raise unreadable("squeue or sacct", answer)
    for table in tables:
        header, *lines = table.split("\n")
        if header not in READERS:
            raise unreadable("squeue or sacct", answer)
        yield header, [row for line in lines if (row := READERS[header](line))]


def _squeue_row(line: str) -> SlurmRow | None:
    """None for a line that is the rest of somebody's job name with a line break in it."""
    fields = line.split("|", 8)
    if len(fields) < 9:
        return None
    array, indexes, word, status, restarts, started, ended, nodes, reason_and_name = fields
    reason, _, name = reason_and_name.removesuffix("|").rpartition("|")
    if word == "FAILED" and reason == "BadConstraints":
        return None  # a refused submission leaves such a record
    wait = _number(status)
    exit_code = 128 + (wait & 127) if wait & 127 else wait >> 8
    return SlurmRow(array, indexes, word, exit_code, _number(restarts), started, ended, nodes, reason, name)


def _sacct_row(line: str) -> SlurmRow | None:
    fields = line.split("|", 7)
    job = len(fields) == 8 and re.fullmatch(r"(\d+)_(?:(\d+)|\[(.*)\])", fields[0])
    if not job:
        return None
    _, word, codes, submitted, started, ended, nodes, name = fields
    if word == "FAILED" and job[3]:
        return None  # a refused submission leaves such a record
    code, _, signal = codes.partition(":")
    exit_code = 128 + int(signal) if signal not in ("", "0") else int(code)
    return SlurmRow(job[1], job[2] or job[3], word, exit_code, 0, started, ended, nodes, "", name, submitted)


READERS = {SQUEUE_HEADER: _squeue_row, SACCT_HEADER: _sacct_row}


def in_order(rows: list[SlurmRow]) -> list[SlurmRow]:
    """The last row of a job is the one that counts, after a requeue, which makes it submitted anew, too.

    Tasks that ran stand among those that did not as well.
    """
    return sorted(rows, key=lambda row: (_number(row.submitted), row.indexes.isdigit()))


def jobs_of(row: SlurmRow) -> list[RemoteJob]:
    """One for each index of a row of squeue or sacct; of waiting jobs squeue has no start, but an estimate of it."""
    if row.indexes == "N/A":
        return []  # 22.05 forgets which tasks they were when a waiting array is cancelled by name
    state = SLURM_STATES.get(row.word.split(" ")[0], RemoteJobState.UNKNOWN)  # "CANCELLED by 1001"
    if state == RemoteJobState.WAITING and row.reason in HOLDS:
        state = RemoteJobState.HELD
    reason = row.reason if row.reason != "None" else ""
    if state == RemoteJobState.UNKNOWN or " " in row.word:
        reason = f"{row.word} {reason}".strip()
    exit_code = row.exit_code if state in ENDED_BY_ITSELF else None
    waits = state in (RemoteJobState.WAITING, RemoteJobState.HELD)
    started, expected = (None, _time(row.started)) if waits else (_time(row.started), None)
    waiting = interpret(reason) if waits else interpret("")
    ended = _time(row.ended) if state.is_final else None
    node = _first_node(row.nodes)
    return [
        RemoteJob(
            row.name,
            index,
            f"{row.array}_{index}",
            state,
            exit_code,
            reason,
            node,
            started,
            ended,
            row.restarts,
            waiting.meaning,
            waiting.is_stuck,
            expected,
        )
        for index in _indexes(row.indexes)
    ]


def ended_unseen(job: RemoteJob) -> RemoteJob:
    """What sacct says last of a job that squeue does not list: alive there, it is a record that nobody ended."""
    if job.state.is_final:
        return job
    return replace(job, state=RemoteJobState.UNKNOWN, reason=f"sacct has it as {job.state}, squeue has not")


def _indexes(text: str) -> Iterator[int]:
    """The indexes of a task list such as `1,3,7-9,20-30:2%4`."""
    for part in text.partition("%")[0].split(","):
        steps = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        if not steps:
            raise UnreadableOutput(f"Slurm's list of array tasks cannot be read: {text[:100]!r}")
        yield from range(int(steps[1]), int(steps[2] or steps[1]) + 1, int(steps[3] or 1))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _time(text: str) -> float | None:
    return float(text) if text.isdigit() else None


def _first_node(text: str) -> str:
    """`n[03-05,9]` -> `n03`; squeue writes nothing and sacct "None assigned" when there is none."""
    parts = re.match(r"([^\s\[,]+)(?:\[(\d+)[^]]*\]([^\s\[,]*))?", text)
    return "".join(part or "" for part in parts.groups()) if parts and text != "None assigned" else ""


def unreadable(command: str, answer: ShellResult) -> UnreadableOutput:
    """The error to raise: command, exit status, and what stderr says, or else stdout."""
    text = answer.err.strip() or answer.out.strip() or "no answer at all"
    return UnreadableOutput(f"{command} (exit status {answer.status}): {excerpt(text)}")
