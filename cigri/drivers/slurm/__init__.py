"""Slurm: sbatch, squeue, sacct, scancel and sinfo, as 22.05.8 speaks.

Every command ends with a line of ours, so that no cut or empty answer passes for one.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cigri.drivers import BatchRequest, Capacity, Driver, JobControl, RemoteJob, parse_options, submission_failed
from cigri.drivers.slurm.backend_options import BACKEND
from cigri.drivers.slurm.environment import FORGET, NO_WAITING
from cigri.drivers.slurm.node_selection import select
from cigri.drivers.slurm.nodes import SINFO, read_nodes
from cigri.drivers.slurm.output_parsing import (
    END_OF_ANSWER,
    SACCT_HEADER,
    SQUEUE_FIELDS,
    SQUEUE_HEADER,
    ended_unseen,
    in_order,
    jobs_of,
    read_tables,
    unreadable,
)
from cigri.drivers.slurm.submission_script import NO_SUCH_ARRAY, held_up, watched
from cigri.drivers.slurm.submit_arguments import (
    SlurmOptions,
    find_problems,
    placement,
    selection_words,
    sorted_by_slurm,
)
from cigri.errors import ArrayTooLarge, QueueFull, SubmissionRefused, UnreadableOutput
from cigri.formats.units import as_clock
from cigri.formats.untrusted_text import excerpt
from cigri.requirements import Condition
from cigri.resources.nodes import AlikeNodes
from cigri.shell.results import ShellResult

END_OF_ALL = f"{END_OF_ANSWER} of all\n"
SACCT_STATES = "BF,CA,CD,DL,F,NF,OOM,PD,PR,R,RQ,S,TO"  # unless named, jobs that never became eligible stay out
CLEAN = f"{FORGET}export LC_ALL=C SLURM_BITSTR_LEN=0 SLURM_TIME_FORMAT=%s SQUEUE_ARRAY_UNIQUE=1\n"
SESSION = f"{FORGET}unset SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_AUTH_SOCK XDG_SESSION_ID XDG_RUNTIME_DIR OLDPWD\n"

WITH_SORTED = ' ${cigri_gres:+"--gres=$cigri_gres"} ${cigri_licenses:+"--licenses=$cigri_licenses"}'
# What an association or a QOS lets be submitted: AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit, ...
SUBMIT_LIMIT = re.compile(r"^sbatch: error: (Assoc|QOS)\w*SubmitJob\w*Limit$", re.MULTILINE)
NO_ACCOUNTING = "accounting storage is disabled"
DENIED = re.compile(r"Access/permission denied|Invalid user id")
GONE = re.compile(r"Invalid job id specified|already completing or completed")
SAID_BY_SLURM = re.compile(r"scancel: |scontrol: |slurm_\w+ |\d+(_\S+)?: ")
# "Unexpected message" is how 22.05 suspends a job that it does not know, and also what it says to a dead controller.
NOTHING_TO_DO = re.compile(
    rf"{GONE.pattern}|already finished|Unexpected message received for job|is pending execution|is not suspended"
)
# After these sentences of Slurm it is not known whether the controller took the request. Sites' own words are none.
NO_SLURM = re.compile(
    r"Batch job submission failed: (Unable to contact slurm controller|Communication (connection|shutdown) failure"
    r"|Message (send|receive) failure|Socket timed out on send/recv operation|Zero Bytes were transmitted or received"
    r"|Unexpected message received|Transport endpoint is not connected|Connection (refused|timed out|reset by peer)"
    r"|(Slurm|Resource) temporarily una)"
)

# Linux takes at most 131,072 bytes in one word of a command.
NAMES_AT_ONCE = 1000
SLURM_JOBS_AT_ONCE = 10_000


class SlurmDriver(Driver):
    """Slurm clusters; Slurm never requeues a job of ours, since a second attempt is ours to decide."""

    prelude = """\
CIGRI_INDEX=$SLURM_ARRAY_TASK_ID
CIGRI_REMOTE_ID=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
CIGRI_NODE=$SLURMD_NODENAME
CIGRI_NODES=$SLURM_JOB_NODELIST
cigri_nodes() {
    case $CIGRI_NODES in
        *[[,]*) scontrol show hostnames "$CIGRI_NODES" ;;
        *) printf '%s\\n' "$CIGRI_NODES" ;;
    esac
}
"""

    controls = frozenset(JobControl)
    backend = BACKEND

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = parse_options(SlurmOptions, "slurm", options)
        config = self._options.config
        self._where = f"export SLURM_CONF={shlex.quote(config)}\n" if config else ""
        self._clean = self._where + CLEAN

    def problems(self, request: BatchRequest) -> list[str]:
        common = self.common_problems(request)
        return [*find_problems(self._options, request), *common, *([] if common else self._contradictions(request))]

    def _contradictions(self, request: BatchRequest) -> list[str]:
        if select(request.requirement).gres and "gres" in self.read_backend(request.backend):
            return [f"backend: --gres goes before what is required ({request.requirement}); leave one of them out"]
        return []

    def submit(self, request: BatchRequest) -> str:
        words = ["sbatch", "--parsable", "--no-requeue", f"--array=1-{request.size}", f"--job-name={request.tag}"]
        # Any other export than ALL makes Slurm start a login shell for each job: a third of the jobs a second.
        words += ["--input=/dev/null", "--output=/dev/null", "--error=/dev/null", "--export=ALL"]
        chosen = self.read_backend(request.backend)
        wishes = placement(self._options, request, chosen)
        sorting = sorted_by_slurm(self._options, request, wishes, chosen)
        words += [f"--time={as_clock(request.walltime)}", *(f"--{name}={value}" for name, value in wishes.items())]
        if request.notice > 0:
            words.append(f"--signal=B:XCPU@{request.notice}")
        command = shlex.join(words) + (WITH_SORTED if sorting else "")
        return f"{self._where}{SESSION}{NO_WAITING}{sorting}" + watched(f'{command} "$PWD/job" "$PWD"')

    def select(self, requirement: Condition) -> list[str]:
        return [f"--{name}={value}" for name, value in selection_words(select(requirement)).items()]

    def parse_submit(self, answer: ShellResult, request: BatchRequest) -> dict[int, str]:
        if error := held_up(answer):
            raise error
        is_told = "sbatch: error:" in answer.err and answer.err.endswith("\n")
        if answer.status != 0 and is_told and not NO_SLURM.search(answer.err):
            raise _refusal(answer, request)
        if answer.status != 0:
            raise submission_failed("sbatch", answer.status, answer.out, answer.err)
        if not answer.out.endswith(f"{END_OF_ANSWER}\n"):
            raise unreadable("sbatch", answer)
        said = answer.out.removesuffix(f"{END_OF_ANSWER}\n")
        array = re.search(r"^(\d+)(?:;\S+)?\n\Z", said, re.MULTILINE)
        if not array:
            raise submission_failed("sbatch", answer.status, said, answer.err)
        return {index: f"{array[1]}_{index}" for index in range(1, request.size + 1)}

    def status(self, prefix: str) -> str:
        return f"{self._clean}{_squeue()} && echo {END_OF_ANSWER}"

    def parse_status(self, answer: ShellResult, prefix: str) -> list[RemoteJob]:
        if answer.status != 0:
            raise unreadable("squeue", answer)
        rows = (row for _, table in read_tables(answer) for row in table if row.name.startswith(prefix))
        return [job for row in rows for job in jobs_of(row) if not job.state.is_final]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        """Asks for whole arrays: sacct lists the tasks that ended together before they began under no other name.

        Of an id that was given anew, after a controller came back with older state, it would show the last job alone.
        """
        tags = sorted({tag for tag, _, _ in jobs})
        arrays = sorted({remote_id.partition("_")[0] for _, _, remote_id in jobs if remote_id})
        unnamed = sorted({tag for tag, _, remote_id in jobs if not remote_id})
        sacct = f"sacct -X -P --duplicates -o {SACCT_HEADER.replace('|', ',')}"
        recent = f'{sacct} -u "$(id -u)" -S now-7days -E now -s {SACCT_STATES}'
        lines = [
            f"{_squeue()} -t all -n {_comma(chunk)} && echo {END_OF_ANSWER} || exit"
            for chunk in _chunks(tags, NAMES_AT_ONCE)
        ]
        lines.append("if command -v sacct >/dev/null; then :")
        lines += [
            f"{sacct} -j {_comma(chunk)} && echo {END_OF_ANSWER} || exit" for chunk in _chunks(arrays, NAMES_AT_ONCE)
        ]
        lines += [
            f"{recent} --name={_comma(chunk)} && echo {END_OF_ANSWER} || exit"
            for chunk in _chunks(unnamed, NAMES_AT_ONCE)
        ]
        return self._clean + "\n".join([*lines, "fi", f"echo {END_OF_ANSWER} of all"])

    def parse_history(self, answer: ShellResult) -> list[RemoteJob]:
        """Other jobs of the same arrays are in the list too."""
        is_whole = answer.status == 0 and answer.out.endswith(END_OF_ALL)
        if not is_whole and (answer.status == 0 or NO_ACCOUNTING not in answer.err):
            raise unreadable("squeue or sacct", answer)
        remembered: dict[tuple[str, int], RemoteJob] = {}
        current: dict[tuple[str, int], RemoteJob] = {}
        for header, table in read_tables(answer._replace(out=answer.out.removesuffix(END_OF_ALL))):
            if header == SQUEUE_HEADER:
                current |= {(job.tag, job.index): job for row in table for job in jobs_of(row)}
                continue
            remembered |= {(job.tag, job.index): ended_unseen(job) for row in in_order(table) for job in jobs_of(row)}
        return list((remembered | current).values())

    def cancel(self, remote_ids: Sequence[str]) -> str:
        return self._clean + _each(
            "scancel", (" ".join(_words(chunk)) for chunk in _chunks(remote_ids, SLURM_JOBS_AT_ONCE))
        )

    def parse_cancel(self, answer: ShellResult) -> None:
        _check("scancel", answer, GONE)

    def control(self, verb: JobControl, remote_ids: Sequence[str]) -> str:
        """scontrol takes one array at a time, and its words do not tell a dead controller from a job that is gone."""
        words = (word for chunk in _chunks(remote_ids, SLURM_JOBS_AT_ONCE) for word in _words(chunk))
        return self._clean + _each(f"scontrol {verb}", words, "scontrol ping | grep -q ' UP$' && ")

    def parse_control(self, answer: ShellResult) -> None:
        if DENIED.search(answer.err):
            message = f"{excerpt(answer.err)} (only operators of Slurm may suspend and resume jobs, or touch others')"
            raise UnreadableOutput(f"scontrol: {message}")
        _check("scontrol", answer, NOTHING_TO_DO)

    def capacity(self, queue: str) -> str:
        """Without a queue: the partitions that our jobs may go to; sinfo counts a node of several partitions once."""
        ours = self._own_partitions()
        where = f" -p {_comma([queue] if queue else sorted(ours))}" if queue or ours else ""
        return f"{self._clean}sinfo -h -o %C{where} && echo {END_OF_ANSWER}"

    def parse_capacity(self, answer: ShellResult) -> Capacity:
        counts = re.fullmatch(rf"(\d+)/(\d+)/(\d+)/(\d+)\s*\n{END_OF_ANSWER}\s*", answer.out)
        if answer.status != 0 or not counts:
            raise unreadable("sinfo", answer)  # an unknown partition is an empty answer
        used, free, unavailable, total = map(int, counts.groups())
        return Capacity(total, free, used, unavailable)

    def nodes(self) -> str:
        return self._clean + SINFO

    def parse_nodes(self, answer: ShellResult) -> list[AlikeNodes]:
        return read_nodes(answer, self._own_partitions(), self._options.resources)

    def _own_partitions(self) -> set[str]:
        """Where the cluster's settings send jobs; empty: to the default one."""
        return {name for name in (self._options.partition, self._options.besteffort_partition) if name}

    def probe(self) -> str:
        return f"{self._clean}sbatch --version && scontrol ping"

    def parse_probe(self, answer: ShellResult) -> str:
        version = re.match(r"slurm\S* (\d\S*)\n", answer.out)
        if not version or not re.search(r"^Slurmctld.* UP$", answer.out, re.MULTILINE):
            raise unreadable("sbatch or scontrol", answer)
        return f"Slurm {version[1]}"


def _refusal(answer: ShellResult, request: BatchRequest) -> SubmissionRefused:
    """The limit is that of an index, which begins at 0."""
    message = answer.err.strip()
    if SUBMIT_LIMIT.search(message):
        return QueueFull(message)
    limit = re.search(r"^MaxArraySize\s*= (\d+)\n", answer.out, re.MULTILINE) if NO_SUCH_ARRAY in message else None
    largest = int(limit[1]) - 1 if limit else 0
    return ArrayTooLarge(message, largest) if 0 < largest < request.size else SubmissionRefused(message)


def _squeue() -> str:
    fields = ",".join(f"{field}:|" for field in SQUEUE_FIELDS.split())
    return f"squeue -a -u \"$(id -u)\" -O '{fields}'"


def _each(command: str, words: Iterable[str], proof: str = "") -> str:
    """The command once for each of the words, whatever becomes of the others; `proof` must hold before the end."""
    lines = [f"{command} {word} || status=$?" for word in words]
    return "\n".join(["status=0", *lines, f"{proof}echo {END_OF_ANSWER}", "exit $status"])


def _check(command: str, answer: ShellResult, harmless: re.Pattern[str]) -> None:
    """Of what stands on stderr only Slurm's own lines count, and those only of a command that has failed."""
    lines = answer.err.splitlines()
    others = [line for line in lines if SAID_BY_SLURM.match(line) and not harmless.search(line)]
    is_taken = answer.status == 0 or (any(map(harmless.search, lines)) and not others)
    if answer.out != f"{END_OF_ANSWER}\n" or not is_taken:
        raise unreadable(command, answer)


def _words(remote_ids: Iterable[str]) -> Iterator[str]:
    """The jobs as scancel takes them, whole arrays in one word: `12_[1-4,7]`."""
    arrays: dict[str, list[int]] = {}
    for remote_id in remote_ids:
        array, _, index = remote_id.partition("_")
        arrays.setdefault(array, []).append(int(index))
    for array, indexes in arrays.items():
        yield shlex.quote(f"{array}_[{','.join(_ranges(sorted(set(indexes))))}]")


def _ranges(indexes: Sequence[int]) -> list[str]:
    starts = [index for place, index in enumerate(indexes) if place == 0 or indexes[place - 1] != index - 1]
    ends = [
        index for place, index in enumerate(indexes) if place + 1 == len(indexes) or indexes[place + 1] != index + 1
    ]
    return [str(first) if first == last else f"{first}-{last}" for first, last in zip(starts, ends, strict=True)]


def _chunks(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _comma(names: Iterable[str]) -> str:
    return shlex.quote(",".join(names))


DRIVER = SlurmDriver
