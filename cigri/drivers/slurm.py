"""Slurm: sbatch, squeue, sacct, scancel and sinfo, as 22.05.8 speaks.

Whatever lists jobs prints its own header and a last line of ours, so that no cut or empty answer passes for "no jobs".
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from cigri.drivers import BatchRequest, Capacity, Driver, RemoteJob, RemoteState, ResourceRequest
from cigri.errors import AnswerUnreadable, ConfigError, SubmissionRefused
from cigri.remote import Answer

WORDS = {
    RemoteState.WAITING: "PENDING REQUEUED REQUEUE_FED",
    RemoteState.HELD: "REQUEUE_HOLD RESV_DEL_HOLD SPECIAL_EXIT",
    RemoteState.RUNNING: "CONFIGURING RUNNING RESIZING SIGNALING STAGE_OUT COMPLETING",
    RemoteState.SUSPENDED: "SUSPENDED STOPPED",
    RemoteState.SUCCEEDED: "COMPLETED",
    RemoteState.FAILED: "FAILED",
    RemoteState.KILLED: "CANCELLED DEADLINE",
    RemoteState.PREEMPTED: "PREEMPTED",
    RemoteState.TIMEOUT: "TIMEOUT",
    RemoteState.NODE_FAILED: "NODE_FAIL BOOT_FAIL",
    RemoteState.OUT_OF_MEMORY: "OUT_OF_MEMORY",
    RemoteState.UNKNOWN: "REVOKED",  # a federation runs it elsewhere under the same id
}
STATES = {word: state for state, words in WORDS.items() for word in words.split()}
HOLDS = {"JobHeldUser", "JobHeldAdmin"}
ENDED_BY_ITSELF = {RemoteState.SUCCEEDED, RemoteState.FAILED, RemoteState.OUT_OF_MEMORY}

END = "cigri-end"
SQUEUE_FIELDS = "ArrayJobID ArrayTaskID State exit_code StartTime EndTime NodeList Reason Name"
SQUEUE_HEADER = "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|EXIT_CODE|START_TIME|END_TIME|NODELIST|REASON|NAME|"
SACCT_HEADER = "JobID|State|ExitCode|Start|End|NodeList|JobName"
SACCT_STATES = "BF,CA,CD,DL,F,NF,OOM,PD,PR,R,RQ,S,TO"  # unless named, jobs that never became eligible stay out
# A user's own settings of these would filter the answer. Unless told otherwise Slurm cuts task lists after 64
# characters, and squeue mixes the waiting and the held tasks of an array in one line.
CLEAN = """\
unset SQUEUE_ACCOUNT SQUEUE_ARRAY SQUEUE_LICENSES SQUEUE_NAMES SQUEUE_PARTITION SQUEUE_QOS SQUEUE_STATES SQUEUE_FORMAT
unset SQUEUE_FORMAT2 SACCT_FORMAT SINFO_PARTITION SCANCEL_INTERACTIVE SCANCEL_PARTITION SCANCEL_STATE SCANCEL_VERBOSE
export LC_ALL=C SLURM_BITSTR_LEN=0 SLURM_TIME_FORMAT=%s SQUEUE_ARRAY_UNIQUE=1
"""
SESSION = "unset SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_AUTH_SOCK XDG_SESSION_ID XDG_RUNTIME_DIR OLDPWD\n"

NO_ACCOUNTING = "accounting storage is disabled"
GONE = re.compile(r"Invalid job id specified|already completing or completed")
# After these words it is not known whether the controller took the request.
NO_CONTACT = re.compile(r"unable to contact|timed out|communication|transport|zero bytes|receive|temporar", re.I)

# Linux takes at most 131,072 bytes in one word of a command.
NAMES_AT_ONCE = 1000
JOBS_AT_ONCE = 10_000


class Options(BaseModel):
    """The settings of one cluster; a besteffort batch takes the besteffort ones where they are given."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_min_length=1)

    partition: str | None = None
    besteffort_partition: str | None = None
    qos: str | None = None
    besteffort_qos: str | None = None
    account: str | None = None
    constraint: str | None = None
    nice: int | None = None
    reservation: str | None = None


class Row(NamedTuple):
    """One line of squeue or sacct: a task of an array, or all those that share a state."""

    array: str
    indexes: str
    word: str
    exit_code: int
    started: str
    ended: str
    nodes: str
    reason: str
    name: str


class Slurm(Driver):
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

    def __init__(self, options: Mapping[str, Any]) -> None:
        try:
            self._options = Options.model_validate(dict(options))
        except ValidationError as wrong:
            problems = (f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in wrong.errors())
            raise ConfigError(f"options of driver slurm: {'; '.join(problems)}") from wrong

    def submit(self, request: BatchRequest) -> str:
        words = ["sbatch", "--parsable", "--no-requeue", f"--array=1-{request.size}", f"--job-name={request.tag}"]
        # Any other export than ALL makes Slurm start a login shell for each job: a third of the jobs a second.
        words += ["--input=/dev/null", "--output=/dev/null", "--error=/dev/null", "--export=ALL"]
        words += [f"--time={_clock(request.walltime)}", *_resources(request.resources), *self._place(request)]
        if request.notice > 0:
            words.append(f"--signal=B:XCPU@{request.notice}")
        return f'{SESSION}{shlex.join(words)} "$PWD/job" "$PWD"'

    def _place(self, request: BatchRequest) -> list[str]:
        """Where, and on whose account."""
        options, besteffort = self._options, request.besteffort
        constraints = [wish for wish in (options.constraint, request.properties) if wish]
        wishes = {
            "partition": request.queue or (besteffort and options.besteffort_partition) or options.partition,
            "qos": (besteffort and options.besteffort_qos) or options.qos,
            "account": request.project or options.account,
            "constraint": constraints[0] if len(constraints) == 1 else "&".join(f"({wish})" for wish in constraints),
            "nice": options.nice,
            "reservation": options.reservation,
        }
        return [f"--{name}={value}" for name, value in wishes.items() if value]

    def parse_submit(self, answer: Answer, request: BatchRequest) -> dict[int, str]:
        if answer.status != 0 and "sbatch: error:" in answer.err and not NO_CONTACT.search(answer.err):
            raise SubmissionRefused(answer.err.strip())
        ids = re.findall(r"^(\d+)(?:;\S+)?$", answer.out, re.MULTILINE)
        if answer.status != 0 or len(ids) != 1:
            raise _unreadable("sbatch", answer)
        return {index: f"{ids[0]}_{index}" for index in range(1, request.size + 1)}

    def status(self, prefix: str) -> str:
        return f"{CLEAN}{_squeue()} && echo {END}"

    def parse_status(self, answer: Answer, prefix: str) -> list[RemoteJob]:
        if answer.status != 0:
            raise _unreadable("squeue", answer)
        rows = (row for _, table in _tables(answer) for row in table if row.name.startswith(prefix))
        return [job for row in rows for job in _jobs(row) if not job.state.is_final]

    def history(self, jobs: Sequence[tuple[str, int, str]]) -> str:
        """Asks for whole arrays: sacct lists the tasks that ended together before they began under no other name."""
        tags = sorted({tag for tag, _, _ in jobs})
        arrays = sorted({remote_id.partition("_")[0] for _, _, remote_id in jobs if remote_id})
        unnamed = sorted({tag for tag, _, remote_id in jobs if not remote_id})
        sacct = f"sacct -X -P -o {SACCT_HEADER.replace('|', ',')}"
        recent = f'{sacct} -u "$(id -u)" -S now-7days -E now -s {SACCT_STATES}'
        lines = [f"{_squeue()} -t all -n {_comma(some)} && echo {END} || exit" for some in _chunks(tags, NAMES_AT_ONCE)]
        lines.append("command -v sacct >/dev/null || exit 0")
        lines += [f"{sacct} -j {_comma(some)} && echo {END} || exit" for some in _chunks(arrays, NAMES_AT_ONCE)]
        lines += [f"{recent} --name={_comma(some)} && echo {END} || exit" for some in _chunks(unnamed, NAMES_AT_ONCE)]
        return CLEAN + "\n".join(lines)

    def parse_history(self, answer: Answer) -> list[RemoteJob]:
        """Other jobs of the same arrays are in the list too."""
        if answer.status != 0 and NO_ACCOUNTING not in answer.err:
            raise _unreadable("squeue or sacct", answer)
        remembered: dict[tuple[str, int], RemoteJob] = {}
        current: dict[tuple[str, int], RemoteJob] = {}
        for header, table in _tables(answer):
            for job in (job for row in table for job in _jobs(row)):
                if header == SQUEUE_HEADER:
                    current[job.tag, job.index] = job
                else:  # of a job that was requeued the last line counts
                    remembered[job.tag, job.index] = _not_live(job)
        return list((remembered | current).values())

    def cancel(self, remote_ids: Sequence[str]) -> str:
        lines = [f"scancel {' '.join(_words(some))} || status=$?" for some in _chunks(remote_ids, JOBS_AT_ONCE)]
        return CLEAN + "\n".join(["status=0", *lines, "exit $status"])

    def parse_cancel(self, answer: Answer) -> None:
        others = [line for line in answer.err.splitlines() if line.strip() and not GONE.search(line)]
        if answer.status != 0 and (others or not answer.err.strip()):
            raise _unreadable("scancel", answer)

    def capacity(self, queue: str) -> str:
        """Without a queue: the partitions that our jobs may go to; sinfo counts a node of several partitions once."""
        options = self._options
        ours = {name for name in (options.partition, options.besteffort_partition) if name}
        where = f" -p {_comma([queue] if queue else sorted(ours))}" if queue or ours else ""
        return f"{CLEAN}sinfo -h -o %C{where} && echo {END}"

    def parse_capacity(self, answer: Answer) -> Capacity:
        found = re.fullmatch(rf"(\d+)/(\d+)/(\d+)/(\d+)\s*\n{END}\s*", answer.out)
        if answer.status != 0 or not found:
            raise _unreadable("sinfo", answer)  # an unknown partition is an empty answer
        used, free, unavailable, total = map(int, found.groups())
        return Capacity(total, free, used, unavailable)

    def probe(self) -> str:
        return f"{CLEAN}sbatch --version && scontrol ping"

    def parse_probe(self, answer: Answer) -> str:
        version = re.match(r"slurm\S* (\d\S*)\n", answer.out)
        if not version or not re.search(r"^Slurmctld.* UP$", answer.out, re.MULTILINE):
            raise _unreadable("sbatch or scontrol", answer)
        return f"Slurm {version[1]}"


def _clock(seconds: int) -> str:
    """Slurm rounds it up to a minute itself."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _resources(wish: ResourceRequest) -> list[str]:
    words = [f"--nodes={wish.nodes}", "--ntasks-per-node=1", f"--cpus-per-task={wish.cpu}"]
    if wish.mem > 0:
        words.append(f"--mem={wish.mem}M")
    others = [f"{name.removeprefix('gres/')}:{count}" for name, count in sorted(wish.others.items()) if count > 0]
    return words + ([f"--gres={','.join(others)}"] if others else [])


def _squeue() -> str:
    fields = ",".join(f"{field}:|" for field in SQUEUE_FIELDS.split())
    return f"squeue -a -u \"$(id -u)\" -O '{fields}'"


def _tables(answer: Answer) -> Iterator[tuple[str, list[Row]]]:
    """Header and rows of each table; each is ended by our own line."""
    *tables, rest = answer.out.split(f"{END}\n")
    if not tables or rest.strip():
        raise _unreadable("squeue or sacct", answer)
    for table in tables:
        header, *lines = table.split("\n")
        if header not in READERS:
            raise _unreadable("squeue or sacct", answer)
        yield header, [row for line in lines if (row := READERS[header](line))]


def _squeue_row(line: str) -> Row | None:
    """None for a line that is the rest of somebody's job name with a line break in it."""
    fields = line.split("|", 7)
    if len(fields) < 8:
        return None
    array, indexes, word, status, started, ended, nodes, rest = fields
    reason, _, name = rest.removesuffix("|").rpartition("|")
    if word == "FAILED" and reason == "BadConstraints":
        return None  # a refused submission leaves such a record
    wait = int(status) if status.isdigit() else 0
    exit_code = 128 + (wait & 127) if wait & 127 else wait >> 8
    return Row(array, indexes, word, exit_code, started, ended, nodes, reason, name)


def _sacct_row(line: str) -> Row | None:
    fields = line.split("|", 6)
    found = len(fields) == 7 and re.fullmatch(r"(\d+)_(?:(\d+)|\[(.*)\])", fields[0])
    if not found:
        return None
    _, word, codes, started, ended, nodes, name = fields
    if word == "FAILED" and found[3]:
        return None  # a refused submission leaves such a record
    code, _, signal = codes.partition(":")
    exit_code = 128 + int(signal) if signal not in ("", "0") else int(code)
    return Row(found[1], found[2] or found[3], word, exit_code, started, ended, nodes, "", name)


READERS = {SQUEUE_HEADER: _squeue_row, SACCT_HEADER: _sacct_row}


def _jobs(row: Row) -> list[RemoteJob]:
    if row.indexes == "N/A":
        return []  # 22.05 forgets which tasks they were when a waiting array is cancelled by name
    state = STATES.get(row.word.split(" ")[0], RemoteState.UNKNOWN)  # "CANCELLED by 1001"
    if state == RemoteState.WAITING and row.reason in HOLDS:
        state = RemoteState.HELD
    reason = row.reason if row.reason != "None" else ""
    if state == RemoteState.UNKNOWN or " " in row.word:
        reason = f"{row.word} {reason}".strip()
    exit_code = row.exit_code if state in ENDED_BY_ITSELF else None
    started = None if state in (RemoteState.WAITING, RemoteState.HELD) else _time(row.started)  # else an estimate
    ended = _time(row.ended) if state.is_final else None
    node = _first_node(row.nodes)
    return [
        RemoteJob(row.name, index, f"{row.array}_{index}", state, exit_code, reason, node, started, ended)
        for index in _indexes(row.indexes)
    ]


def _not_live(job: RemoteJob) -> RemoteJob:
    """What sacct says last of a job that squeue does not list: alive there, it is a record that nobody ended."""
    if job.state.is_final:
        return job
    return replace(job, state=RemoteState.UNKNOWN, reason=f"sacct has it as {job.state}, squeue has not")


def _indexes(text: str) -> Iterator[int]:
    """The indexes of a task list such as `1,3,7-9,20-30:2%4`."""
    for part in text.partition("%")[0].split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part)
        if not found:
            raise AnswerUnreadable(f"Slurm's list of array tasks cannot be read: {text[:100]!r}")
        yield from range(int(found[1]), int(found[2] or found[1]) + 1, int(found[3] or 1))


def _time(text: str) -> float | None:
    return float(text) if text.isdigit() else None


def _first_node(text: str) -> str:
    """`n[03-05,9]` -> `n03`; squeue writes nothing and sacct "None assigned" when there is none."""
    found = re.match(r"([^\s\[,]+)(?:\[(\d+)[^]]*\]([^\s\[,]*))?", text)
    return "".join(part or "" for part in found.groups()) if found and text != "None assigned" else ""


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


def _unreadable(command: str, answer: Answer) -> AnswerUnreadable:
    text = answer.err.strip() or answer.out.strip() or "no answer at all"
    return AnswerUnreadable(f"{command} (exit status {answer.status}): {text[-300:]}")


DRIVER = Slurm
