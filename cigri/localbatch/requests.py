"""What a client may say: each request is checked here, whatever bytes it is made of, and answered with lines of JSON.

The last line of an answer is {"end": n}, n being the number of lines before it, or {"error": text}.
"""

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cigri.errors import CigriError, SubmissionRefused, UsageError
from cigri.localbatch.backfill_queue import JobArray
from cigri.localbatch.engine import KEPT_JOBS, JobEngine
from cigri.localbatch.pools import POOL, default_pools
from cigri.localbatch.store import LocalJobRow, LocalJobState

LARGEST_POOL = 2**53
SAFE_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
VERSIONED_NAME = re.compile(r"([A-Za-z0-9._-]{1,200}) ([0-9]{1,16}) (\S+)")
ID = re.compile(r"([1-9][0-9]{0,15})_([1-9][0-9]{0,15})")

logger = logging.getLogger(__name__)

AnswerLines = Iterator[dict[str, object]]


def answer(engine: JobEngine, uid: int, line: bytes, now: float) -> bytes:
    """The whole answer to one line of a client."""
    try:
        request = RequestFields(decode(line))
        verb = request.word("verb", re.compile("[a-z]+"))
        if verb not in ANSWERED_VERBS:
            raise UsageError(f"no verb {verb!r}")
        lines = list(ANSWERED_VERBS[verb](engine, uid, request, now))
    except CigriError as error:
        return encode([{"error": str(error)}])
    return encode([*lines, {"end": len(lines)}])


def encode(lines: Sequence[Mapping[str, object]]) -> bytes:
    """A line of JSON each, as the client reads them."""
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


def decode(line: bytes) -> dict[str, Any]:
    """The request, an object of JSON; raise UsageError when the line holds anything else."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the request is not JSON: {error}") from None
    if not isinstance(request, dict):
        raise UsageError("the request is not an object")
    return request


class RequestFields:
    """The fields of a request, each taken once; done() refuses what is left."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._left = request

    def take(self, name: str) -> Any:
        """A field of any type; raise UsageError when it is not there."""
        try:
            return self._left.pop(name)
        except KeyError:
            raise UsageError(f"the request has no {name!r}") from None

    def word(self, name: str, pattern: re.Pattern[str]) -> str:
        """A text, all of which is of the pattern; else UsageError."""
        value = self.take(name)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise UsageError(f"{name} {value!r} is not of the form {pattern.pattern}")
        return value

    def number(self, name: str, least: int, most: int = LARGEST_POOL) -> int:
        """A whole number between the two, both allowed; else UsageError."""
        return check_number(name, self.take(name), least, most)

    def words(self, name: str) -> list[str]:
        """A list of texts, be they empty; else UsageError."""
        value = self.take(name)
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise UsageError(f"{name} is not a list of words")
        return value

    def done(self) -> None:
        """Raise UsageError when something is left that nobody has taken."""
        if self._left:
            raise UsageError(f"unknown in the request: {', '.join(sorted(self._left))}")


def check_number(name: str, value: object, least: int, most: int = LARGEST_POOL) -> int:
    """The value, when it is a whole number between the two (true is none); else UsageError, with its name."""
    if type(value) is not int or not least <= value <= most:
        raise UsageError(f"{name} must be a number from {least} to {most}")
    return value


def submit(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """Amounts of cpu and mem are those of a node, the others those of the job; a name that is there gives its array."""
    nodes = request.number("nodes", 1)
    need = {"cpu": nodes * request.number("cpu", 1), "mem": nodes * request.number("mem", 0)}
    others = request.take("others")
    if not isinstance(others, dict) or not others.keys().isdisjoint(need):
        raise UsageError("others must be an object, without cpu and mem")
    need |= {name: check_number(name, amount, 0) for name, amount in others.items()}
    array = JobArray(
        id=0,
        uid=uid,
        name=request.word("name", SAFE_NAME),
        size=request.number("size", 1, KEPT_JOBS),
        need={name: amount for name, amount in need.items() if amount},
        walltime=request.number("walltime", 1),
        notice=request.number("notice", 0),
        argv=tuple(request.words("argv")),
    )
    refuse_selection(request)
    request.done()
    check_command(array.argv)
    queued = engine.submit(array)
    yield {"array": queued.id, "size": queued.size}


def check_command(argv: Sequence[str]) -> None:
    """Raise UsageError unless it is a program by its absolute path and words that Linux can hand over."""
    if not argv or not os.path.isabs(argv[0]):
        raise UsageError("the command must begin with an absolute path")
    try:
        acceptable = not any(b"\0" in os.fsencode(word) for word in argv)
    except UnicodeEncodeError:
        acceptable = False
    if not acceptable:
        raise UsageError("the command holds a character that no command can hold")


def refuse_selection(request: RequestFields) -> None:
    """This host has no queues and no properties to choose by."""
    for name in ("queue", "properties"):
        if value := request.take(name):
            raise SubmissionRefused(f"the local cluster has no {name}, but {value!r} is asked for")


def list_live(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """The caller's live arrays, or everybody's; waiting jobs as ranges, running and suspended ones with their start."""
    prefix = request.take("prefix")
    everybody = request.take("everybody")
    request.done()
    if not isinstance(prefix, str) or not isinstance(everybody, bool):
        raise UsageError("prefix must be a text and everybody true or false")
    for array, under_way, reason in engine.live():
        if array.name.startswith(prefix) and (everybody or array.uid == uid):
            yield {
                "array": array.id,
                "uid": array.uid,
                "name": array.name,
                "waiting": ranges(array.left),
                "held": ranges(sorted(array.held)),
                "reason": reason,
                "running": [[running.job.position, running.job.started] for running in under_way],
                "suspended": [
                    running.job.position for running in under_way if running.job.state is LocalJobState.SUSPENDED
                ],
            }


def ranges(indexes: Iterable[int]) -> list[list[int]]:
    """Numbers as first and last of each run."""
    result: list[list[int]] = []
    for index in indexes:
        if result and result[-1][1] == index - 1:
            result[-1][1] = index
        else:
            result.append([index, index])
    return result


def history(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """The caller's jobs by "name index id" ("-": the id is not known); forgotten ones are left out."""
    keys = request.words("keys")
    request.done()
    arrays: dict[str, JobArray | None] = {}
    for key in keys:
        name, index, remote_id = parse_key(key)
        if name not in arrays:
            arrays[name] = engine.find(uid, name)
        array = arrays[name]
        if array and 1 <= index <= array.size and remote_id in ("-", f"{array.id}_{index}"):
            yield record(array, index, engine.job(array, index))


def parse_key(key: str) -> tuple[str, int, str]:
    """Name of the array, index and id ("-": not known) of a job; raise UsageError when it is not that."""
    match = VERSIONED_NAME.fullmatch(key)
    if not match:
        raise UsageError(f"{key!r} is not a name, an index and an id")
    return match[1], int(match[2]), match[3]


def record(array: JobArray, index: int, job: LocalJobRow | None) -> dict[str, object]:
    """What a history tells of a job, times in epoch seconds; `job` is None while it waits."""
    return {
        "name": array.name,
        "index": index,
        "id": f"{array.id}_{index}",
        "state": job.state if job else "waiting",
        "exit_code": job and job.exit_code,
        "started": job and job.started,
        "ended": job and job.ended,
        "reason": job.reason if job else "",
    }


def cancel(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """How many of the jobs were alive; they get SIGTERM, and SIGKILL after the grace."""
    yield {"cancelled": engine.cancel(uid, take_jobs(request), now)}


def hold(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """How many of the jobs waited; others are left as they are."""
    yield {"changed": engine.hold(uid, take_jobs(request))}


def release(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """How many of the jobs were held; they wait in their old place."""
    yield {"changed": engine.release(uid, take_jobs(request))}


def suspend(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """How many of the jobs ran; they get SIGSTOP, and their walltime stands still."""
    yield {"changed": engine.suspend(uid, take_jobs(request), now)}


def resume(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """How many of the jobs were suspended; they get SIGCONT."""
    yield {"changed": engine.resume(uid, take_jobs(request), now)}


def take_jobs(request: RequestFields) -> list[tuple[int, int]]:
    """Array and index of each job of a request that holds nothing else."""
    ids = request.words("ids")
    request.done()
    matches = [ID.fullmatch(job_id) for job_id in ids]
    jobs = [(int(match[1]), int(match[2])) for match in matches if match]
    if len(jobs) < len(ids):
        raise UsageError(f"not the id of a job: {ids[matches.index(None)]!r}")
    return jobs


def capacity(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """All and free of each pool by its name; free may be below 0, as Pools.free tells."""
    refuse_selection(request)
    request.done()
    pools = engine.pools
    yield {"pools": {name: {"total": total, "free": pools.free(name)} for name, total in pools.totals.items()}}


def probe(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """Process and account of the daemon, and all of each pool."""
    request.done()
    yield {"pid": os.getpid(), "uid": os.geteuid(), "pools": engine.pools.totals}


def resize(engine: JobEngine, uid: int, request: RequestFields, now: float) -> AnswerLines:
    """Other pools, as of a daemon that is started with them; only for its own user and root."""
    pools = request.take("pools")
    request.done()
    if uid not in (0, os.geteuid()):
        raise SubmissionRefused("the pools of this daemon are for its own user to change")
    if not isinstance(pools, dict) or not all(POOL.fullmatch(name) for name in pools):
        raise UsageError(f"pools must be an object, with names of the form {POOL.pattern}")
    totals = default_pools() | {name: check_number(name, amount, 1) for name, amount in pools.items()}
    if totals != engine.pools.totals:
        logger.info("pools %s instead of %s", totals, engine.pools.totals)
        engine.pools.resize(totals)
    yield {"pools": totals}


ANSWERED_VERBS: dict[str, Callable[[JobEngine, int, RequestFields, float], AnswerLines]] = {
    "submit": submit,
    "list": list_live,
    "history": history,
    "cancel": cancel,
    "hold": hold,
    "release": release,
    "suspend": suspend,
    "resume": resume,
    "capacity": capacity,
    "probe": probe,
    "resize": resize,
}
