"""What OAR's JSON says: the jobs of oarstat, and the cores of oarnodes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cigri.drivers import Capacity, RemoteJob, RemoteJobState
from cigri.drivers.oar.waiting_reasons import OarReason, interpret_message
from cigri.errors import UnreadableOutput
from cigri.formats.machine_text import read_json
from cigri.formats.untrusted_text import excerpt
from cigri.shell.results import ShellResult

END_OF_OAR_ANSWER = "cigri-oar-end"

LIVE = {
    RemoteJobState.WAITING: "Waiting toLaunch toAckReservation",
    RemoteJobState.HELD: "Hold",
    RemoteJobState.RUNNING: "Launching Running Finishing toError toTerminate",
    RemoteJobState.SUSPENDED: "Suspended Resuming",
}
OAR_STATES = {word: state for state, words in LIVE.items() for word in words.split()}

RESUBMITTED = "RESUBMIT_JOB_AUTOMATICALLY"
# Why a job is in the state Error, the first that is true: a killed job has events of the kill too.
CAUSES = {
    "BESTEFFORT_KILL": RemoteJobState.PREEMPTED,
    "WALLTIME": RemoteJobState.TIMEOUT,
    "FRAG_JOB_REQUEST": RemoteJobState.KILLED,
}
# These come with any end. Whatever else is said of a job in the state Error is no fault of its tasks: a node, a daemon,
# the directory of the batch.
COMMON = re.compile("SWITCH_INTO_|SCHEDULER_PRIORITY_|SEND_KILL_JOB|CHECKPOINT")
# Who warned a job: OAR's scheduler, that its cores are wanted, or its clock.
WARNINGS = {"metasched": RemoteJobState.PREEMPTED, "sarko": RemoteJobState.TIMEOUT}


def read_answers(command: str, answer: ShellResult) -> list[dict[str, Any]]:
    """The entries of all lists; each ends with our line, and an empty one has a resource as its witness."""
    *lists, after_end = answer.out.split(f"{END_OF_OAR_ANSWER}\n")
    if answer.status != 0 or not lists or after_end.strip():
        raise unreadable(command, answer)
    read = []
    for text in lists:
        members = list(entries(text, command, answer))
        if not members:
            raise unreadable(command, answer)
        read += [entry for entry in members if isinstance(entry, dict)]
    return read


def jobs_of(entries: Iterable[Mapping[str, Any]]) -> list[RemoteJob]:
    """Of jobs with the same name and index the last one: OAR has submitted it in place of those before it.

    Of a job that is listed twice the later entry counts.
    """
    jobs: dict[tuple[str, int], RemoteJob] = {}
    for _, entry in sorted({_id(entry): entry for entry in entries}.items()):
        job = _job(entry)
        if before := jobs.get((job.tag, job.index)):
            job = replace(job, restarts=before.restarts + 1)
        jobs[job.tag, job.index] = job
    return list(jobs.values())


def capacity_of(answer: ShellResult, core: str) -> Capacity:
    """Some sites have several resources for a core."""
    text, _, after_end = answer.out.partition(f"{END_OF_OAR_ANSWER}\n")
    cores: dict[object, list[Mapping[str, Any]]] = {}
    if answer.status == 0 and f"{END_OF_OAR_ANSWER}\n" in answer.out and not after_end:
        for entry in entries(text, "oarnodes", answer):
            if not isinstance(entry, dict):
                raise unreadable("oarnodes", answer)
            name = entry.get(core) or entry.get("resource_id")
            cores.setdefault((entry.get("network_address"), name), []).append(entry)
    if not cores:
        raise unreadable("oarnodes", answer)
    total = len(cores)
    up = [resources for resources in cores.values() if all(map(_is_up, resources))]
    used = sum(any(entry.get("jobs") for entry in resources) for resources in up)
    return Capacity(total, len(up) - used, used, total - len(up))


def unreadable(command: str, answer: ShellResult) -> UnreadableOutput:
    """The error to raise: command, exit status, and what stderr says, or else stdout."""
    text = answer.err.strip() or answer.out.strip() or "no answer at all"
    return UnreadableOutput(f"{command} (exit status {answer.status}): {excerpt(text)}")


def entries(text: str, command: str, answer: ShellResult) -> Iterator[Any]:
    """The values of an object, or the members of a list, as OAR 3 has them."""
    try:
        document = read_json(text)
    except ValueError:
        raise unreadable(command, answer) from None
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        document = document["items"]
    if not isinstance(document, dict | list):
        raise unreadable(command, answer)
    yield from document.values() if isinstance(document, dict) else document


def _is_up(entry: Mapping[str, Any]) -> bool:
    """Absent ones that are there for a while yet sleep to save energy; OAR wakes them."""
    state, until = str(entry.get("state")), entry.get("available_upto") or 0
    sleeps = state.startswith("Absent") and ("standby" in state or 0 < until < 2**31 - 1)
    return (state == "Alive" or sleeps) and entry.get("drain") != "YES"


def _first(entry: Mapping[str, Any], *names: str) -> Any:
    """OAR 2.5 and 3 have other names for the same."""
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _id(entry: Mapping[str, Any]) -> int:
    job_id = _first(entry, "Job_Id", "job_id", "id")
    if not isinstance(job_id, int | str) or not str(job_id).isdigit():
        raise UnreadableOutput(f"a job of oarstat has no id: {str(entry)[:200]}")
    return int(job_id)


def _job(entry: Mapping[str, Any]) -> RemoteJob:
    events = _first(entry, "events") or []
    word = str(_first(entry, "state"))
    state, exit_code, reason = _state(word, entry, events)
    begun = _time(_first(entry, "startTime", "start_time"))
    told = interpret_message(reason) if state is RemoteJobState.WAITING else OarReason(reason)
    return RemoteJob(
        tag=str(_first(entry, "name", "job_name") or ""),
        index=int(_first(entry, "array_index") or 1),
        remote_id=str(_id(entry)),
        state=state,
        exit_code=exit_code,
        reason=told.said,
        node=_node(entry),
        started=None if state in (RemoteJobState.WAITING, RemoteJobState.HELD) else begun,
        ended=_time(_first(entry, "stopTime", "stop_time")) if state.is_final else None,
        restarts=int(bool(_first(entry, "resubmit_job_id"))),
        meaning=told.meaning,
        is_stuck=told.is_stuck,
        expected=_time(_first(entry, "scheduledStart", "scheduled_start")) if state is RemoteJobState.WAITING else None,
    )


def _state(
    word: str, entry: Mapping[str, Any], events: Iterable[Mapping[str, Any]]
) -> tuple[RemoteJobState, int | None, str]:
    """State, exit code and reason."""
    texts = {str(event.get("type")): str(event.get("description") or "") for event in events}
    if word not in ("Terminated", "Error"):
        message = str(_first(entry, "message") or "")
        return (
            OAR_STATES.get(word, RemoteJobState.UNKNOWN),
            None,
            message if word in OAR_STATES else f"{word} {message}".strip(),
        )
    if RESUBMITTED in texts:
        return RemoteJobState.UNKNOWN, None, texts[RESUBMITTED].strip()
    if word == "Terminated":
        return _end(_exit_code(entry), texts)
    for name, state in CAUSES.items():
        if name in texts:
            return state, None, texts[name]
    reasons = [f"{name}: {text.strip()}" for name, text in texts.items() if not COMMON.match(name)]
    return RemoteJobState.NODE_FAILED, None, "; ".join(reasons) or "OAR does not say why it failed"


def _end(exit_code: int | None, texts: Mapping[str, str]) -> tuple[RemoteJobState, int | None, str]:
    """A job that ended after OAR had warned it, and not well, ended because of that."""
    if exit_code is None:
        return (RemoteJobState.KILLED if "FRAG_JOB_REQUEST" in texts else RemoteJobState.UNKNOWN), None, ""
    if exit_code == 0:
        return RemoteJobState.SUCCEEDED, 0, ""
    warning = texts.get("CHECKPOINT", "")
    for who, state in WARNINGS.items():
        if f"({who})" in warning:
            return state, None, warning
    return RemoteJobState.FAILED, exit_code, ""


def _exit_code(entry: Mapping[str, Any]) -> int | None:
    """OAR 2.5 says what wait() said, and some versions of 3 the code itself, under another name."""
    waited = _first(entry, "exit_code")
    if waited is None:
        code = _first(entry, "exit_status_code")
        return int(code) if code is not None else None
    return 128 + (int(waited) & 127) if int(waited) & 127 else int(waited) >> 8


def _node(entry: Mapping[str, Any]) -> str:
    nodes = _first(entry, "assigned_network_address", "network_addresses", "nodes") or [""]
    first = nodes[0] if isinstance(nodes, list) else nodes
    return str(first.get("network_address", "") if isinstance(first, dict) else first)


def _time(value: Any) -> float | None:
    return float(value) if value else None
