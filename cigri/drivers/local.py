"""This very host as a cluster, through the batch system in `cigri.localbatch`.

Its commands are one Python file run by the interpreter that runs CiGri: both are on this host, so both are named by
absolute paths. `besteffort` and `project` mean nothing here: all jobs are equal. Queues and properties are refused.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cigri.drivers import (
    BatchRequest,
    Capacity,
    Driver,
    JobControl,
    RemoteJob,
    RemoteJobState,
    ResourceRequest,
    submission_failed,
)
from cigri.errors import ConfigError, SubmissionRefused, UnreadableOutput
from cigri.formats.machine_text import read_json
from cigri.formats.units import MEGABYTE
from cigri.formats.untrusted_text import excerpt
from cigri.localbatch import client
from cigri.localbatch.pools import POOL, default_pools
from cigri.resources.nodes import AlikeNodes, known
from cigri.shell.results import ShellResult

LOCAL_STATES = {
    "waiting": RemoteJobState.WAITING,
    "held": RemoteJobState.HELD,
    "starting": RemoteJobState.RUNNING,
    "running": RemoteJobState.RUNNING,
    "suspended": RemoteJobState.SUSPENDED,
    "succeeded": RemoteJobState.SUCCEEDED,
    "failed": RemoteJobState.FAILED,
    "killed": RemoteJobState.KILLED,
    "timeout": RemoteJobState.TIMEOUT,
    "out_of_memory": RemoteJobState.OUT_OF_MEMORY,
    "node_failed": RemoteJobState.NODE_FAILED,
    "vanished": RemoteJobState.FAILED,  # none of its processes is there, and nobody saw how it ended
}

START_CLIENT = "import sys; sys.path.append(sys.argv.pop(1)); import client; client.run()"
"""What is imported is kept compiled; a file that Python is started with is compiled each time."""

KEEPS = "keeps to that: it belongs to another user, or to an older version; its owner starts it anew with other --pool"

LocalLine = dict[str, Any]


class LocalDriver(Driver):
    """Options: `spool`, the directory of the daemon, and `pools`, what it may give away when a client starts it."""

    prelude = (
        "cigri_umask=$2\n"  # of the account's shell that submits, as with Slurm; all jobs begin with another
        "CIGRI_INDEX=$CIGRI_ARRAY_INDEX\n"
        "CIGRI_REMOTE_ID=$CIGRI_LOCAL_ID\n"
        "read -r CIGRI_NODE </proc/sys/kernel/hostname\n"
        "cigri_epoch=$CIGRI_LOCAL_STARTED\n"
        "CIGRI_SCRATCH=$CIGRI_LOCAL_SCRATCH CIGRI_NODE_FILE=/proc/sys/kernel/hostname\n"
        "cigri_features=$CIGRI_LOCAL_FEATURES cigri_space=$CIGRI_LOCAL_SPACE\n"
        "cigri_peaks=${CIGRI_LOCAL_FEATURES:+$CIGRI_LOCAL_FEATURES/peaks}\n"
    )

    controls = frozenset(JobControl)
    lends_cores = True
    backend = None

    def __init__(self, options: Mapping[str, Any]) -> None:
        if unknown := sorted(map(str, options.keys() - {"spool", "pools"})):
            raise ConfigError(f"driver local knows spool and pools, not {', '.join(unknown)}")
        spool, pools = options.get("spool"), options.get("pools", {})
        if not isinstance(spool, str) or not spool.startswith("/") or "\0" in spool:
            raise ConfigError(f"driver local needs spool, an absolute path, not {spool!r}")
        if not isinstance(pools, Mapping) or not all(_is_pool(name, amount) for name, amount in pools.items()):
            raise ConfigError(f"pools of driver local must be names and positive numbers, not {pools!r}")
        # the daemon may have been started where it had all the cores of the host
        self._processors = os.cpu_count() or 1
        self._pools = default_pools() | {"cpu": self._processors} | dict(pools)
        self._declared = dict(pools)
        self._node = os.uname().nodename
        words = [sys.executable, "-I", "-S", "-c", START_CLIENT, os.path.dirname(client.__file__), spool]
        self._client = shlex.join([*words, *(f"--pool={name}={amount}" for name, amount in pools.items())])

    def problems(self, request: BatchRequest) -> list[str]:
        wishes = {"queue": request.queue, "properties": request.properties}
        unknown = [f"the local cluster has no {name}; leave {value!r} out" for name, value in wishes.items() if value]
        return super().problems(request) + unknown + [*self._lacking(request.resources)]

    def largest(self) -> Mapping[str, int]:
        return self._pools

    def _lacking(self, wish: ResourceRequest) -> Iterator[str]:
        """What even an empty host has not, with the line that would change it where the host has as many processors."""
        if wish.native:
            return
        need = {"cpu": wish.width, "mem": wish.nodes * wish.mem, "tmp": wish.nodes * wish.tmp, **wish.others}
        for name, amount in need.items():
            there = self._pools.get(name, 0)
            if amount > there:
                advice = f"`cigri cluster change NAME --option pools.{name}={amount}` would change that"
                if name == "cpu" and amount > self._processors:
                    advice = f"this host itself has {self._processors}"
                yield f"a job asks for {name}={amount}, and the cluster has {there or 'none'}; {advice}"

    def submit(self, request: BatchRequest) -> str:
        need = request.resources
        asked = {
            "name": request.tag,
            "size": request.size,
            "cpu": need.cpu,
            "nodes": need.nodes,
            "mem": need.mem,
            "others": {**need.others, "tmp": need.nodes * need.tmp} if need.tmp else dict(need.others),
            "walltime": request.walltime,
            "notice": request.notice,
            "queue": request.queue,
            "properties": request.properties,
        }
        return self._ask("submit", **asked) + ' -- "$PWD/job" "$PWD" "$cigri_umask"'

    def parse_submit(self, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        if answer.status == client.REFUSED and answer.err.strip():
            raise SubmissionRefused(answer.err.strip())
        if answer.status != 0:
            raise submission_failed("local batch system", answer.status, answer.out, answer.err)
        with _OutputReading(answer):
            [line] = _lines(answer)
            array = _natural(line["array"])
            if line["size"] != request.size:
                raise ValueError(f"an array of {request.size} jobs was asked for")
        return {index: f"{array}_{index}" for index in range(1, request.size + 1)}

    def status(self, prefix: str) -> str:
        return self._ask_all(_list(prefix))

    def parse_status(self, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        with _OutputReading(answer):
            jobs = (job for line in _lines(answer) for job in _live_jobs(line, self._node))
            return [job for job in jobs if job.tag.startswith(prefix)]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        return self._ask("history", keys=[f"{tag} {index} {remote_id or '-'}" for tag, index, remote_id in jobs])

    def parse_history(self, answer: ShellResult) -> list[RemoteJob]:
        with _OutputReading(answer):
            return [_ended_job(line, self._node) for line in _lines(answer)]

    def cancel(self, remote_ids: Sequence[str]) -> str:
        return self._ask("cancel", ids=list(remote_ids))

    def parse_cancel(self, answer: ShellResult) -> None:
        with _OutputReading(answer):
            [line] = _lines(answer)
            _natural(line["cancelled"])

    def control(self, verb: JobControl, remote_ids: Sequence[str]) -> str:
        return self._ask(verb, ids=list(remote_ids))

    def parse_control(self, answer: ShellResult) -> None:
        with _OutputReading(answer):
            [line] = _lines(answer)
            _natural(line["changed"])

    def capacity(self, queue: str) -> str:
        return self._ask_all(_capacity(queue))

    def parse_capacity(self, answer: ShellResult) -> Capacity:
        with _OutputReading(answer):
            [line] = _lines(answer)
            total, free = _natural(line["pools"]["cpu"]["total"]), line["pools"]["cpu"]["free"]
            free = max(0, _integer(free))  # below zero after the operator has shrunk the pool
            return Capacity(total, free, total - free, 0)

    def overview(self, prefix: str) -> str:
        """To start its client costs more than all the rest of a visit."""
        return self._ask_all(_capacity(""), _list(prefix))

    def split_overview(self, answer: ShellResult) -> tuple[ShellResult, ShellResult]:
        lines = answer.out.splitlines(keepends=True)
        cut = next((number for number, line in enumerate(lines, 1) if line.startswith('{"end":')), 0)
        return answer._replace(out="".join(lines[:cut])), answer._replace(out="".join(lines[cut:]))

    def nodes(self) -> str:
        """A daemon that runs since before the pools were changed is told of them first."""
        ask = self.capacity("")
        return f"{self._ask('resize', pools=self._declared)} >/dev/null 2>&1\n{ask}" if self._declared else ask

    def parse_nodes(self, answer: ShellResult) -> list[AlikeNodes]:
        """This host, as large as its pools."""
        with _OutputReading(answer):
            [line] = _lines(answer)
            pools = {name: _natural(pool["total"]) for name, pool in line["pools"].items()}
        odd = [
            f"{name}={pools.get(name, 0)}" for name, declared in self._declared.items() if pools.get(name) != declared
        ]
        if odd:
            raise UnreadableOutput(f"the daemon gives {', '.join(odd)}, unlike options.pools, and {KEEPS}")
        cores, memory, gpus = pools.pop("cpu", None), pools.pop("mem", None), pools.pop("gpu", None)
        size = None if memory is None else memory * MEGABYTE
        return [AlikeNodes(known({**pools, "cores": cores, "memory": size, "gpus": gpus}), 1)]

    def probe(self) -> str:
        return self._ask("probe")

    def parse_probe(self, answer: ShellResult) -> str:
        with _OutputReading(answer):
            [line] = _lines(answer)
            pools = ", ".join(f"{name}={_natural(amount)}" for name, amount in line["pools"].items())
            return f"local batch system with {pools} (process {_natural(line['pid'])}, user id {_natural(line['uid'])})"

    def _ask(self, verb: str, **fields: object) -> str:
        return self._ask_all({"verb": verb, **fields})

    def _ask_all(self, *requests: Mapping[str, object]) -> str:
        """sh text that asks the daemon; printf is a builtin, so that the length of a request has no limit."""
        return f"printf '%s\\n' {shlex.join(map(json.dumps, requests))} | {self._client}"


def _capacity(queue: str) -> dict[str, object]:
    return {"verb": "capacity", "queue": queue, "properties": ""}


def _list(prefix: str) -> dict[str, object]:
    return {"verb": "list", "prefix": prefix, "everybody": False}


class _OutputReading:
    """Whatever goes wrong while an answer is read: it is no answer."""

    def __init__(self, answer: ShellResult) -> None:
        self._answer = answer

    def __enter__(self) -> None:
        if self._answer.status != 0:
            raise UnreadableOutput(self._text(f"exit status {self._answer.status}"))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KeyError | TypeError | ValueError | AttributeError):
            raise UnreadableOutput(self._text(f"{type(error).__name__} {error}")) from error

    def _text(self, problem: str) -> str:
        return f"local batch system: {problem}: {excerpt(self._answer.err or self._answer.out)!r}"


def _lines(answer: ShellResult) -> list[LocalLine]:
    """The lines before the last one, which says how many they are."""
    if not answer.out.endswith("\n"):
        raise ValueError("the answer was cut off")
    *lines, end = [read_json(line) for line in answer.out.removesuffix("\n").split("\n")]
    if end != {"end": len(lines)}:
        raise ValueError("the answer was cut off")
    return lines


def _live_jobs(line: LocalLine, node: str) -> Iterator[RemoteJob]:
    array, tag = _natural(line["array"]), _text(line["name"])
    for index in _indexes(line["waiting"]):
        yield RemoteJob(tag, index, f"{array}_{index}", RemoteJobState.WAITING, reason=_text(line["reason"]))
    for index in _indexes(line.get("held", [])):  # a daemon of an earlier version says neither this nor "suspended"
        yield RemoteJob(tag, index, f"{array}_{index}", RemoteJobState.HELD)
    stopped = set(map(_natural, line.get("suspended", [])))
    for index, started in line["running"]:
        state = RemoteJobState.SUSPENDED if index in stopped else RemoteJobState.RUNNING
        yield RemoteJob(tag, _natural(index), f"{array}_{index}", state, node=node, started=_time(started))


def _indexes(ranges: Iterable[tuple[object, object]]) -> Iterator[int]:
    for first, last in ranges:
        yield from range(_natural(first), _natural(last) + 1)


def _ended_job(line: LocalLine, node: str) -> RemoteJob:
    exit_code = line["exit_code"]
    return RemoteJob(
        tag=_text(line["name"]),
        index=_natural(line["index"]),
        remote_id=_text(line["id"]),
        state=LOCAL_STATES.get(_text(line["state"]), RemoteJobState.UNKNOWN),
        exit_code=exit_code if exit_code is None else _integer(exit_code),
        reason=_text(line["reason"]),
        node=node if line["started"] is not None else "",
        started=_time(line["started"]),
        ended=_time(line["ended"]),
    )


def _is_pool(name: object, amount: object) -> bool:
    return isinstance(name, str) and bool(POOL.fullmatch(name)) and type(amount) is int and amount > 0


def _integer(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is not a number")
    return value


def _natural(value: object) -> int:
    if _integer(value) < 0:
        raise ValueError(f"{value!r} is negative")
    return _integer(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _time(value: object) -> float | None:
    if value is None or type(value) is float:
        return value
    raise TypeError(f"{value!r} is not a time")


DRIVER = LocalDriver
