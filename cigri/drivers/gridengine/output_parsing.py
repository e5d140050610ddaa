"""How the answers of Grid Engine are read: the XML of qstat and qhost, and the lines of its accounting file."""

import calendar
import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from cigri.drivers import Capacity, RemoteJob, RemoteJobState
from cigri.drivers.gridengine.waiting_reasons import (
    NO_MESSAGES,
    GridEngineReason,
    SchedulerMessages,
    interpret_messages,
)
from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult

# Letters of a state: d(eletion) and R(estarted) go with any other; w(aiting) and q(ueued) come last.
KNOWN_LETTERS = "dEhrRsStTqw"
KIND_OF_LETTERS = (
    ("E", RemoteJobState.HELD),  # until somebody clears the error: qmod -cj
    ("sST", RemoteJobState.SUSPENDED),  # by a person, with its queue, by the load of its host
    ("rt", RemoteJobState.RUNNING),  # t: on its way to a host
    ("h", RemoteJobState.HELD),
    ("qw", RemoteJobState.WAITING),
)
IN_ERROR = "it could not be started, and waits until an operator clears its error (qmod -cj)"
NODE_LOST = "u"
CANNOT_START = frozenset("uadDCoEsS")  # unheard of, overloaded, disabled, by calendar, orphaned, in error, suspended

# The field `failed` of accounting: what happened, unless 0 (the job ended by itself) or 100 (it died by a signal).
RESCHEDULED = frozenset({24, 25})
OVER_A_LIMIT = 37
APPLICATION_ERROR = 30
DIED_BY_SIGNAL = frozenset({17, 100})
STATES_BY_SIGNAL = {
    128 + 9: RemoteJobState.KILLED,  # by qdel, or by a queue whose way to suspend it is
    128 + 10: RemoteJobState.TIMEOUT,  # SIGUSR1 is the notice of s_rt
    128 + 15: RemoteJobState.PREEMPTED,  # by a queue that ends jobs politely instead of suspending them
}


class QacctRecord(NamedTuple):
    """What accounting tells of the end of a job."""

    node: str
    name: str
    job: str
    started: int
    ended: int
    failed: int
    exit_status: int
    task: int
    asked: str


def to_name(tag: str) -> str:
    """The name of a batch in Grid Engine, where none may begin with a digit."""
    return tag if tag[:1].isalpha() else f"_{tag}"


def to_tag(name: str) -> str:
    """The tag of a batch from its name in Grid Engine, as to_name has made it."""
    return name.removeprefix("_")


def unreadable(command: str, answer: ShellResult) -> UnreadableOutput:
    """The error to raise: command, exit status, and what stderr says, or else stdout."""
    text = answer.err.strip() or answer.out.strip() or "no answer at all"
    return UnreadableOutput(f"{command} (exit status {answer.status}): {excerpt(text)}")


def read_xml(command: str, answer: ShellResult, text: str, root: str) -> ElementTree.Element:
    """The answer as a tree; cut text is no XML."""
    try:
        tree = ElementTree.fromstring(text.strip())  # noqa: S314 (expat bounds what entities may become)
    except ElementTree.ParseError:
        raise unreadable(command, answer) from None
    if tree.tag != root:
        raise unreadable(command, answer)
    return tree


def live_jobs(answer: ShellResult, text: str, messages: SchedulerMessages = NO_MESSAGES) -> Iterator[RemoteJob]:
    """The jobs in an answer of qstat -xml; those that wait and share a state are one element."""
    tree = read_xml("qstat", answer, text, "job_info")
    if tree.find("queue_info") is None or tree.find("job_info") is None:
        raise unreadable("qstat", answer)
    for job in tree.iter("job_list"):
        number, name, letters = (job.findtext(field, "") for field in ("JB_job_number", "JB_name", "state"))
        if not number.isdigit() or not letters:
            raise unreadable("qstat", answer)
        state = state_of(letters)
        started = _time(job.findtext("JAT_start_time", "")) if job.get("state") == "running" else None
        node = job.findtext("queue_name", "").partition("@")[2]
        told = interpret_messages(number, messages) if state is RemoteJobState.WAITING else GridEngineReason()
        if state is RemoteJobState.UNKNOWN or "E" in letters:
            is_in_error = state is RemoteJobState.HELD
            told = GridEngineReason(f"state {letters}", IN_ERROR if is_in_error else "", is_in_error)
        for index in _indexes(job.findtext("tasks", "")):
            yield RemoteJob(
                to_tag(name),
                index,
                f"{number}.{index}",
                state,
                reason=told.said,
                node=node,
                started=started,
                restarts=int("R" in letters),
                meaning=told.meaning,
                is_stuck=told.is_stuck,
            )


def state_of(letters: str) -> RemoteJobState:
    """From a word such as hqw, Eqw, dRr."""
    if not set(letters) <= set(KNOWN_LETTERS):
        return RemoteJobState.UNKNOWN
    return next((state for kind, state in KIND_OF_LETTERS if set(kind) & set(letters)), RemoteJobState.UNKNOWN)


def _indexes(text: str) -> Iterator[int]:
    """The indexes of a task list such as `1,3,17-29:1`; a job that is no array has none."""
    for part in text.split(",") if text else ():
        steps = re.fullmatch(r"(\d+)(?:-(\d+):(\d+))?", part)
        if not steps:
            raise UnreadableOutput(f"Grid Engine's list of tasks cannot be read: {text[:100]!r}")
        yield from range(int(steps[1]), int(steps[2] or steps[1]) + 1, int(steps[3] or 1))


def _time(text: str) -> float | None:
    """qstat is asked for UTC."""
    try:
        return float(calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return None


def read_row(line: str) -> QacctRecord:
    """A line of accounting, cut down to the fields that are read."""
    try:
        node, name, job, started, ended, failed, exit_status, task, asked = line.split(":", 8)
        return QacctRecord(node, name, job, int(started), int(ended), int(failed), int(exit_status), int(task), asked)
    except ValueError:
        raise UnreadableOutput(f"Grid Engine's accounting cannot be read: {line[:100]!r}") from None


def ended_job(row: QacctRecord) -> RemoteJob:
    """A job that failed to start, or was begun anew, has an exit status too, which means nothing."""
    state, exit_code, reason = _end(row)
    return RemoteJob(
        to_tag(row.name),
        row.task,
        f"{row.job}.{row.task}",
        state,
        exit_code,
        reason,
        row.node if row.node != "UNKNOWN" else "",
        float(row.started) or None,
        float(row.ended) or None,
    )


def _end(row: QacctRecord) -> tuple[RemoteJobState, int | None, str]:
    failed, code = row.failed, row.exit_status
    if failed == 0 and code in (0, 128 + 15):  # a shell that ended by itself after SIGTERM says so
        return STATES_BY_SIGNAL.get(code, RemoteJobState.SUCCEEDED), code, ""
    if failed == 0:
        return RemoteJobState.FAILED, code, ""
    reason = f"failed {failed}, exit status {code}"
    if failed == OVER_A_LIMIT:
        return _limit(row), code, reason
    if failed == APPLICATION_ERROR:
        return RemoteJobState.FAILED, code, reason
    if failed in RESCHEDULED:
        return RemoteJobState.UNKNOWN, None, reason
    if failed in DIED_BY_SIGNAL and code > 128:
        return STATES_BY_SIGNAL.get(code, RemoteJobState.FAILED), code, reason
    return RemoteJobState.NODE_FAILED, None, reason


def _limit(row: QacctRecord) -> RemoteJobState:
    """One code for the limits of time and memory: the time tells which."""
    asked = re.search(r"h_rt=(\d+)", row.asked)
    lasted = row.ended - row.started
    is_memory = asked is not None and lasted < int(asked[1]) and "h_vmem=" in row.asked
    return RemoteJobState.OUT_OF_MEMORY if is_memory else RemoteJobState.TIMEOUT


class QhostSlots(NamedTuple):
    """Slots of a host: of the largest of our queues, of the queue to start besteffort jobs, and taken by anybody."""

    total: int
    usable: int
    used: int


def read_capacity(answer: ShellResult, queues: Sequence[str]) -> Capacity:
    """Queues of a host share its cores, so it counts as much as the largest of ours (any, if none is named).

    A queue that is suspended because others have jobs on the host starts none, so that nothing of the host is free.
    """
    hosts = [_host(host, queues) for host in read_xml("qhost", answer, answer.out, "qhost").iter("host")]
    counted = [host for host in hosts if host is not None]
    if answer.status != 0 or not counted:
        raise unreadable("qhost", answer._replace(err=answer.err or f"no queue {' or '.join(queues)}"))
    total, used = sum(host.total for host in counted), sum(host.used for host in counted)
    free = sum(max(0, host.usable - host.used) for host in counted)
    return Capacity(total, free, used, total - free - used)


def _host(host: ElementTree.Element, queues: Sequence[str]) -> QhostSlots | None:
    sizes, usable, used, is_lost = [], 0, 0, False
    for queue in host.iter("queue"):
        values = {value.get("name"): value.text or "" for value in queue.iter("queuevalue")}
        try:
            name, slots, taken = queue.attrib["name"], int(values["slots"]), int(values["slots_used"])
            states = set(values["state_string"])
        except (KeyError, ValueError):
            raise UnreadableOutput(f"qhost does not tell the slots of queue {queue.get('name')}") from None
        used += taken
        if queues and name not in queues:
            continue
        sizes.append(slots)
        is_lost = is_lost or NODE_LOST in states
        if not states & CANNOT_START and name in (queues[-1:] or [name]):
            usable = max(usable, slots)
    return QhostSlots(max(sizes), usable, 0 if is_lost else min(used, max(sizes))) if sizes else None
