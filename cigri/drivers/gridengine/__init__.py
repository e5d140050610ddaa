"""Grid Engine: qsub, qstat, qdel, qhold, qmod, qhost and the file of accounting, as 8.1.9 speaks."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cigri.drivers import BatchRequest, Capacity, Driver, JobControl, RemoteJob, parse_options, submission_failed
from cigri.drivers.gridengine.backend_options import BACKEND, read_backend
from cigri.drivers.gridengine.environment import ENVIRONMENT, LIST_JOBS, site_request
from cigri.drivers.gridengine.node_selection import requests
from cigri.drivers.gridengine.nodes import QUESTIONS, read_nodes
from cigri.drivers.gridengine.output_parsing import (
    ended_job,
    live_jobs,
    read_capacity,
    read_row,
    to_name,
    to_tag,
    unreadable,
)
from cigri.drivers.gridengine.submit_arguments import GridEngineOptions, find_problems, placement, sizes
from cigri.drivers.gridengine.waiting_reasons import MESSAGES, read_messages
from cigri.errors import ArrayTooLarge, QueueFull, SubmissionRefused
from cigri.requirements import Condition
from cigri.resources.nodes import AlikeNodes
from cigri.shell.results import ShellResult

END = "cigri-sge-end"
# From the end of the file backwards, until each job is found or a week of ends has been read. The last record of a job
# that was begun anew is the one that counts. A job over several nodes has records of its parts (field 42) too.
ACCOUNTING = """\
file=$SGE_ROOT/${SGE_CELL:-default}/common/accounting
[ -r "$file" ] || { echo "cannot read $file" >&2; exit 1; }
{ cat <<'WANTED'
%s

WANTED
tac -- "$file" && echo END; } | awk -F: -v owner="$(id -un)" -v oldest=$(($(date +%%s) - 604800)) '
    !is_read && $0 == "" { is_read = 1; next }
    !is_read { for (i = $2; i <= $3; i++) { wanted[$1, i] = 1; count++ } next }
    $0 == "END" || count == 0 || ($11 > 0 && $11 < oldest) { is_whole = 1; exit }
    $4 == owner && $42 == "NONE" && (($5, $36) in wanted) {
        delete wanted[$5, $36]; count--
        print $2 ":" $5 ":" $6 ":" $10 ":" $11 ":" $12 ":" $13 ":" $36 ":" $40
    }
    END { exit !is_whole }'"""

REFUSED = re.compile(r"^Unable to run job: .*\nExiting\.\n", re.MULTILINE | re.DOTALL)
TOO_LARGE = re.compile(r"a job with more than (\d+) tasks")
# max_u_jobs and max_jobs of `qconf -sconf`; each counts an array as one.
QUEUE_FULL = re.compile(
    r"^Unable to run job: job rejected: only \d+ jobs are allowed per (user|cluster)\b", re.MULTILINE | re.IGNORECASE
)
# After these sentences of Grid Engine it is not known whether the qmaster took the request. Sites' own words are none.
NO_GRID_ENGINE = re.compile(
    r"^error: commlib error|^Unable to run job: (failed receiving gdi|unable to (send message to|contact) qmaster)",
    re.MULTILINE,
)
SAID_OF_CANCELLED = re.compile(
    r"\S+ has (registered|deleted) (the )?job.*|job \d+ is already in deletion"
    r"|(denied: )?job \S+ (task \S+ )?does not exist"
)
# 8.1.9 says the last two of a job that waits and of one that it does not know.
CONTROLLED = re.compile(
    r"modified hold of job.*|\S+ - (un)?suspended job.*"
    r"|\S+ - job.* is already (un)?suspended|denied: job \S+ does not exist"
    r"|Modify operation can not be applied on .* state|invalid queue or job \S+"
)
CONTROL_COMMANDS = {
    JobControl.HOLD: "qhold -h u",
    JobControl.RELEASE: "qrls -h u",
    JobControl.SUSPEND: "qmod -sj",
    JobControl.RESUME: "qmod -usj",
}
WORDS_AT_ONCE = 2000


class GridEngineDriver(Driver):
    """Grid Engine clusters; the state of a job is that of qstat, its end that of accounting."""

    # s_rt sends SIGUSR1 to every process of the job. Exit status 99 would begin the job anew, and 100 put it in error,
    # whatever qsub says.
    prelude = """\
CIGRI_INDEX=$SGE_TASK_ID
CIGRI_REMOTE_ID=$JOB_ID.$SGE_TASK_ID
CIGRI_NODE=$HOSTNAME
cigri_nodes() {
    if [ -r "$PE_HOSTFILE" ]; then
        while read -r cigri_host cigri_skip; do printf '%s\\n' "$cigri_host"; done <"$PE_HOSTFILE"
    else
        printf '%s\\n' "$CIGRI_NODE"
    fi
}
cigri_notice=USR1
trap 'kill -XCPU $$' USR1
trap 'case $? in 99 | 100) exit 1 ;; esac' EXIT
"""

    backend = BACKEND

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = parse_options(GridEngineOptions, "gridengine", options)
        # Where a queue ends jobs instead of suspending them, qmod -sj ends them too.
        self.controls = frozenset(JobControl if self._options.suspends else (JobControl.HOLD, JobControl.RELEASE))
        settings = self._options.settings
        self._environment = (f". {shlex.quote(settings)} >/dev/null || exit\n" if settings else "") + ENVIRONMENT

    def read_backend(self, words: Sequence[str]) -> dict[str, str]:
        return read_backend(words)

    def select(self, requirement: Condition) -> list[str]:
        return requests(requirement, self._options.complexes)

    def problems(self, request: BatchRequest) -> list[str]:
        return [*super().problems(request), *find_problems(self._options, request)]

    def submit(self, request: BatchRequest) -> str:
        if problems := self.problems(request):
            raise ValueError("; ".join(problems))
        words = [
            "-terse",
            "-t",
            f"1-{request.size}",
            "-N",
            to_name(request.tag),
            "-r",
            "n",
            "-m",
            "n",
            "-w",
            "e",
        ]
        # As a program of its own it is neither copied nor searched for options, and no login shell is started for it.
        words += ["-b", "y", "-shell", "n", "-i", "/dev/null", "-o", "/dev/null", "-j", "y"]
        words += placement(self._options, request, self.read_backend(request.backend))
        asking, amounts = sizes(self._options, request)
        command = f'qsub -clear $cigri_site {shlex.join(words)}{amounts} /bin/sh "$PWD/job" "$PWD"'
        return f"{self._environment}{asking}{site_request(has_queue='-q' in words)}{command}"

    def parse_submit(self, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        message = answer.err.strip()
        if answer.status != 0 and REFUSED.search(answer.err) and not NO_GRID_ENGINE.search(message):
            if QUEUE_FULL.search(message):
                raise QueueFull(message, counts_arrays=True)
            largest = TOO_LARGE.search(message)
            raise ArrayTooLarge(message, int(largest[1])) if largest else SubmissionRefused(message)
        if answer.status != 0:
            raise submission_failed("qsub", answer.status, answer.out, answer.err)
        array = re.search(rf"^(\d+)\.1-{request.size}:1\n\Z", answer.out, re.MULTILINE)
        if not array:
            raise submission_failed("qsub", answer.status, answer.out, answer.err)
        return {index: f"{array[1]}.{index}" for index in range(1, request.size + 1)}

    def status(self, prefix: str) -> str:
        """Why jobs wait is asked for where some do."""
        why = MESSAGES.format(end=END, pattern=shlex.quote(f"{to_name(prefix)}*"))
        lines = ("cigri_jobs=$(cigri_list) || exit", "printf '%s\\n' \"$cigri_jobs\"")
        waits = f"case $cigri_jobs in *'<state>qw</state>'*)\n{why} ;;\nesac"
        return "\n".join([f"{self._environment}{LIST_JOBS}{lines[0]}", lines[1], waits])

    def parse_status(self, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        if answer.status != 0:
            raise unreadable("qstat", answer)
        listed, _, messages = answer.out.partition(f"{END}\n")
        jobs = live_jobs(answer, listed, read_messages(messages))
        return [job for job in jobs if job.tag.startswith(prefix)]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        """Its first line names the batches, since all jobs that live are in the answer."""
        indexes: dict[str, list[int]] = {}
        for tag, index, _ in jobs:
            indexes.setdefault(to_name(tag), []).append(index)
        wanted = [f"{name}:{first}:{last}" for name, numbers in indexes.items() for first, last in _ranges(numbers)]
        accounting = ACCOUNTING % "\n".join(wanted) if self._options.accounting else "true"
        names = f"printf '%s\\n' {shlex.quote(' '.join(indexes))}"
        listed = f"{self._environment}{LIST_JOBS}{names} && cigri_list && echo {END}"
        return f"{listed} && {{\n{accounting} && echo {END}\n}}"

    def parse_history(self, answer: ShellResult) -> list[RemoteJob]:
        """What lives comes first: a job that was begun anew is in accounting too."""
        names, _, tables = answer.out.partition("\n")
        listed, _, accounting = tables.partition(f"{END}\n")
        if answer.status != 0 or not accounting.endswith(f"{END}\n"):
            raise unreadable("qstat or accounting", answer)
        tags = {to_tag(name) for name in names.split()}
        ended = [ended_job(read_row(line)) for line in accounting.removesuffix(f"{END}\n").splitlines()]
        jobs = [*ended, *(job for job in live_jobs(answer, listed) if job.tag in tags)]
        return list({(job.tag, job.index): job for job in jobs}.values())

    def cancel(self, remote_ids: Sequence[str]) -> str:
        return self._each("qdel", remote_ids)

    def parse_cancel(self, answer: ShellResult) -> None:
        _check("qdel", answer, SAID_OF_CANCELLED)

    def control(self, verb: JobControl, remote_ids: Sequence[str]) -> str:
        return self._each(CONTROL_COMMANDS[verb], remote_ids)

    def parse_control(self, answer: ShellResult) -> None:
        _check("qhold, qrls or qmod", answer, CONTROLLED)

    def capacity(self, queue: str) -> str:
        """Its first line names the queues that count, since all are in the answer; free is what the last has."""
        names = [queue.partition("@")[0]] if queue else self._own_queues()
        return f"{self._environment}printf '%s\\n' {shlex.quote(' '.join(names))} && qhost -q -xml"

    def parse_capacity(self, answer: ShellResult) -> Capacity:
        names, _, text = answer.out.partition("\n")
        return read_capacity(answer._replace(out=text), names.split())

    def nodes(self) -> str:
        return self._environment + QUESTIONS

    def parse_nodes(self, answer: ShellResult) -> list[AlikeNodes]:
        return read_nodes(answer, self._own_queues(), self._options.complexes)

    def _own_queues(self) -> list[str]:
        """Where the cluster's settings send jobs, the last one those of type besteffort; none: to any."""
        ours = (self._options.queue, self._options.besteffort_queue)
        return [name.partition("@")[0] for name in ours if name]

    def probe(self) -> str:
        return f"{self._environment}qstat -help | head -n 1 && qconf -sss >/dev/null && echo {END}"

    def parse_probe(self, answer: ShellResult) -> str:
        version = re.fullmatch(rf"(\S*GE\S*) (\S+)\n{END}\n", answer.out)
        if answer.status != 0 or not version:
            raise unreadable("qstat or qconf", answer)
        return f"Grid Engine {version[2]}" if version[1] == "SGE" else f"Grid Engine {version[1]} {version[2]}"

    def _each(self, command: str, remote_ids: Sequence[str]) -> str:
        """The command for so many jobs at a time: it fails for one that is gone, too, of which its lines tell."""
        words = list(_words(remote_ids))
        parts = (words[start : start + WORDS_AT_ONCE] for start in range(0, len(words), WORDS_AT_ONCE))
        lines = [f"{command} {shlex.join(chunk)} || status=$?" for chunk in parts]
        return self._environment + "\n".join(["status=0", *lines, f"echo {END}", "exit $status"])


def _check(command: str, answer: ShellResult, harmless: re.Pattern[str]) -> None:
    """Each line of stdout must be one that says done, or nothing to do; so must one of a command that has failed.

    What else stands on stderr explains: there each command of a session may say the same, whatever it does.
    """
    lines = [line.strip() for line in answer.out.removesuffix(f"{END}\n").splitlines() if line.strip()]
    wrong = [line for line in lines if not harmless.fullmatch(line)]
    is_done = answer.status == 0 or any(map(harmless.fullmatch, [*lines, *map(str.strip, answer.err.splitlines())]))
    is_whole = answer.out.endswith(f"{END}\n") and not NO_GRID_ENGINE.search(answer.err)
    if wrong or not (is_done and is_whole):
        raise unreadable(command, answer._replace(err="\n".join([*wrong[:5], answer.err])))


def _words(remote_ids: Iterable[str]) -> Iterator[str]:
    """The jobs as qdel takes them: 12.1-4 12.7."""
    arrays: dict[str, list[int]] = {}
    for remote_id in remote_ids:
        array, _, index = remote_id.partition(".")
        arrays.setdefault(array, []).append(int(index))
    for array, indexes in arrays.items():
        yield from (f"{array}.{first}-{last}" for first, last in _ranges(indexes))


def _ranges(indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of indexes that follow each other."""
    runs: list[list[int]] = []
    for index in sorted(set(indexes)):
        if not runs or index != runs[-1][1] + 1:
            runs.append([index, index])
        runs[-1][1] = index
    return ((first, last) for first, last in runs)


DRIVER = GridEngineDriver
