"""The driver of simulated clusters: each text is one line, `simulated VERB JSON`, and each answer is JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cigri.drivers import BatchRequest, Capacity, Driver, RemoteJob, RemoteState
from cigri.errors import AnswerUnreadable, ArrayTooLarge, ConfigError, SubmissionRefused
from cigri.resources.nodes import NodeClass
from cigri.script.answers import Answer
from modules.laboratory.cluster.jobs import JobSight

REFUSED, TOO_LARGE = 10, 11  # exit statuses of a submission
WORD = "simulated"


class Order(NamedTuple):
    """What one line asks for."""

    verb: str
    about: Mapping[str, Any]


class Simulated(Driver):
    """Knows no options."""

    prelude = ""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if options:
            raise ConfigError(f"a simulated cluster has no options, not {', '.join(map(str, options))}")

    def submit(self, request: BatchRequest) -> str:
        about = {"tag": request.tag, "size": request.size, "cores": request.resources.width}
        about |= {"walltime": request.walltime, "besteffort": request.besteffort, "exclude": request.exclude}
        return _line("submit", **about)

    def parse_submit(self, answer: Answer, request: BatchRequest) -> dict[int, str]:
        if answer.status == TOO_LARGE:
            raise ArrayTooLarge(answer.err, int(answer.out))
        if answer.status == REFUSED:
            raise SubmissionRefused(answer.err)
        return {index: str(remote_id) for index, remote_id in enumerate(_parse(answer), start=1)}

    def status(self, prefix: str) -> str:
        return _line("status", prefix=prefix)

    def parse_status(self, answer: Answer, prefix: str) -> list[RemoteJob]:
        return [_job(values) for values in _parse(answer)]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        return _line("history", jobs=jobs)

    def parse_history(self, answer: Answer) -> list[RemoteJob]:
        return [_job(values) for values in _parse(answer)]

    def cancel(self, remote_ids: Sequence[str]) -> str:
        return _line("cancel", remote_ids=remote_ids)

    def parse_cancel(self, answer: Answer) -> None:
        _parse(answer)

    def capacity(self, queue: str) -> str:
        return _line("capacity")

    def parse_capacity(self, answer: Answer) -> Capacity:
        return Capacity(**_parse(answer))

    def nodes(self) -> str:
        return _line("nodes")

    def parse_nodes(self, answer: Answer) -> list[NodeClass]:
        cores, nodes = _parse(answer)
        return [NodeClass({"cores": cores}, nodes)]

    def probe(self) -> str:
        return _line("probe")

    def parse_probe(self, answer: Answer) -> str:
        return str(_parse(answer))


def order_of(line: str) -> Order:
    """The order in a line of this driver; ValueError when it is none."""
    word, verb, about = line.split(" ", 2)
    if word != WORD:
        raise ValueError(f"not an order to a simulated cluster: {line!r}")
    return Order(verb, json.loads(about))


def answered(value: object) -> Answer:
    return Answer(0, json.dumps(value), "")


def shown(sights: Sequence[JobSight], epoch: float) -> Answer:
    """Jobs as `parse_status` and `parse_history` read them; `epoch` is the scenario's start since 1970."""
    jobs = []
    for sight in sights:
        times = [None if time is None else epoch + time for time in (sight.started, sight.ended)]
        jobs.append([sight.tag, sight.array_index, sight.remote_id, sight.state, sight.exit_code, *times, sight.node])
    return answered(jobs)


def _line(verb: str, **about: object) -> str:
    return f"{WORD} {verb} {json.dumps(about)}"


def _parse(answer: Answer) -> Any:
    try:
        return json.loads(answer.out)
    except ValueError:
        raise AnswerUnreadable(f"no answer of a simulated cluster: {answer.out[:100]!r}") from None


def _job(values: Sequence[Any]) -> RemoteJob:
    tag, index, remote_id, state, exit_code, started, ended, node = values
    return RemoteJob(tag, index, remote_id, RemoteState(state), exit_code, "", node, started, ended)
