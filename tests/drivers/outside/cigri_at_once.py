"""No batch system at all: every job begins at once, as a process of the front-end. An example of a whole driver."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from cigri.drivers import BatchRequest, Capacity, Driver, RemoteJob, RemoteState
from cigri.errors import AnswerUnreadable, ConfigError, SubmissionRefused
from cigri.script.answers import Answer

PLACE = '"$HOME"/.at-once'
LINE = re.compile(r"(\S+) (\d+) (\d*)")
END = "at-once-end"

SUBMIT = """\
mkdir -p {place} && mkdir {place}/{tag} || exit 9
for index in $(seq {size}); do
    export AT_ONCE_INDEX=$index AT_ONCE_ID={tag}/$index
    setsid sh -c '"$0" "$1"; echo $? >"$2.end"' "$PWD/job" "$PWD" {place}/{tag}/$index </dev/null >/dev/null 2>&1 &
    echo $! >{place}/{tag}/$index
done
"""
LIST = """\
for job in {place}/{pattern}/*; do
    case $job in *.end | *\\*) continue ;; esac
    tag=${{job%/*}}
    echo "${{tag##*/}} ${{job##*/}} $(cat "$job.end" 2>/dev/null)"
done
"""


class AtOnce(Driver):
    prelude = (
        "CIGRI_INDEX=$AT_ONCE_INDEX CIGRI_REMOTE_ID=$AT_ONCE_ID\n"  # the job forgets what it inherits under these names
        "read -r CIGRI_NODE </proc/sys/kernel/hostname\n"
    )

    def __init__(self, options: Mapping[str, Any]) -> None:
        if options:
            raise ConfigError(f"driver at_once has no options, not even {', '.join(sorted(options))}")

    def submit(self, request: BatchRequest) -> str:
        return SUBMIT.format(place=PLACE, tag=shlex.quote(request.tag), size=request.size) + f"echo {END}"

    def parse_submit(self, answer: Answer, request: BatchRequest) -> dict[int, str]:
        if answer.status == 9 and answer.err.endswith("\n"):
            raise SubmissionRefused(answer.err.strip())
        _lines(answer)
        return {index: f"{request.tag}/{index}" for index in range(1, request.size + 1)}

    def status(self, prefix: str) -> str:
        return LIST.format(place=PLACE, pattern=f"{shlex.quote(prefix)}*") + f"echo {END}"

    def parse_status(self, answer: Answer, prefix: str) -> list[RemoteJob]:
        return [job for job in _jobs(answer) if job.tag.startswith(prefix) and not job.state.is_final]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        tags = sorted({tag for tag, _, _ in jobs})
        return "".join(LIST.format(place=PLACE, pattern=shlex.quote(tag)) for tag in tags) + f"echo {END}"

    def parse_history(self, answer: Answer) -> list[RemoteJob]:
        return _jobs(answer)

    def cancel(self, remote_ids: Sequence[str]) -> str:
        """The group is the whole job; kill complains of those that are gone, which nobody reads."""
        kills = (f'kill -TERM -"$(cat {PLACE}/{shlex.quote(one)})" 2>/dev/null' for one in remote_ids)
        return "\n".join([*kills, f"echo {END}"])

    def parse_cancel(self, answer: Answer) -> None:
        _lines(answer)

    def capacity(self, queue: str) -> str:
        return f"nproc && echo {END}"

    def parse_capacity(self, answer: Answer) -> Capacity:
        [cores] = _lines(answer)
        return Capacity(int(cores), int(cores), 0, 0)

    def probe(self) -> str:
        return f"uname -sr && echo {END}"

    def parse_probe(self, answer: Answer) -> str:
        return f"no batch system on {_lines(answer)[0]}"


def _lines(answer: Answer) -> list[str]:
    """What stands before our last line."""
    *lines, end, rest = ["", *answer.out.split("\n")]
    if answer.status != 0 or end != END or rest:
        raise AnswerUnreadable(f"at_once (exit status {answer.status}): {(answer.err or answer.out)[-300:]}")
    return lines[1:]


def _jobs(answer: Answer) -> list[RemoteJob]:
    found = [LINE.fullmatch(line) for line in _lines(answer)]
    if not all(found):
        raise AnswerUnreadable(f"at_once: {answer.out[-300:]}")
    return [_job(one[1], int(one[2]), one[3]) for one in found if one]


def _job(tag: str, index: int, code: str) -> RemoteJob:
    states = {"": RemoteState.RUNNING, "0": RemoteState.SUCCEEDED}
    state = states.get(code, RemoteState.FAILED)
    return RemoteJob(tag, index, f"{tag}/{index}", state, int(code) if code else None)


DRIVER = AtOnce
