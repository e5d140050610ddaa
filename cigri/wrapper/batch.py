"""The directory of a batch on a cluster, as sh text that creates it whole or not at all."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from cigri.formats.units import as_clock
from cigri.identity.file_sharing import FileSharing
from cigri.shell.words import OutputPattern, ShellWord
from cigri.wrapper.feature_settings import FeatureSpec, features_header
from cigri.wrapper.input_cache import SUM_OF, CachedFile

CHUNK_BYTES = 16_384  # of one file of tasks; every job of the file parses all of it
CLOSED_NAMES = frozenset(  # variables that a shell guards or alters itself
    [
        "BASHOPTS",
        "BASH_VERSINFO",
        "EUID",
        "LINENO",
        "OLDPWD",
        "OPTIND",
        "PPID",
        "PWD",
        "RANDOM",
        "SECONDS",
        "SHELLOPTS",
        "UID",
        "_",
    ]
)

# a prologue is written for bash as its user logs in, where `module` is a function of the site's profile
SCRIPT = '"$cigri_dir/script"'
AS_LOGIN = """sh -c 'command -v bash >/dev/null && exec bash -l "$0"; exec sh -l "$0"' """ + SCRIPT
RECORDS, RECORDS_OUTPUTS = "\n    cigri_record\n", "\n    cigri_record_outputs\n"  # where a task's end is written down
STEP_HEADER = """\
cd -- "$CIGRI_WORKDIR" || exit 72  # a profile may have gone elsewhere
# at "exit" a login shell reads ~/.bash_logout, where the options of these lines would let any failure decide; POSIX's
# mode and other shells know no function of this name
case ${BASH_VERSION:+:${SHELLOPTS-}:} in
'' | *:posix:*) ;;
*) eval 'exit() { set -- "${1-$?}"; set +eu; builtin exit "$1"; }' ;;
esac
set -e
"""


class CheckpointSignal(NamedTuple):
    """The signal (name and number) that asks a task for a checkpoint, and when, in seconds; period None: only once."""

    signal: str
    number: int
    before_walltime: int
    period: int | None


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task of a job: `argv` empty runs the batch's script; `environment` and `directory` go before the batch's.

    `continues`: an earlier attempt has left a checkpoint on this cluster. `outputs`: what it is to bring, directories
    before what lies in them. `inputs`: files of its own, by the names that they have for it.
    """

    task_id: int
    number: int
    attempt: int
    argv: tuple[ShellWord, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: ShellWord | None = None
    continues: bool = False
    outputs: tuple[OutputPattern, ...] = ()
    inputs: Mapping[str, CachedFile] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What one array index runs: tasks in order, `side` at a time; `priority` ranks it among jobs of its owner.

    `digest` tells its tasks from all others (cigri.wrapper.manifest).
    """

    index: int
    job_id: int
    tasks: tuple[TaskSpec, ...]
    priority: int = 10
    side: int = 1
    digest: str = ""


@dataclass(frozen=True)
class BatchSpec:
    """A batch to be written to a cluster; all in it is literal. `collects_always`: also what failed tasks wrote.

    `sharing`: with whom directories are shared that are made for tasks to run in.
    """

    grid_key: str  # [A-Za-z0-9_-] only
    campaign_id: int
    campaign_name: str
    batch_id: int
    cluster: str
    user: str
    directory: ShellWord
    environment: Mapping[str, str]
    resources: str
    walltime: int  # seconds
    jobs: Sequence[JobSpec]
    script: str | None = None
    checkpoint: CheckpointSignal | None = None
    features: FeatureSpec = field(default_factory=FeatureSpec)
    patience: int = 600  # seconds a job goes on trying to write a record
    amounts: Mapping[str, int] = field(default_factory=dict)  # what each task is given, by the name of the resource
    keep_tmp: bool = False
    collects_always: bool = False
    sharing: FileSharing | None = None
    inputs: Mapping[str, CachedFile] = field(default_factory=dict)  # by the name that they have for tasks
    replaced: Mapping[str, Sequence[CachedFile]] = field(default_factory=dict)  # what had these names before

    @property
    def has_inputs(self) -> bool:
        """Is anything to be where its tasks run?"""
        return bool(self.inputs) or any(task.inputs for job in self.jobs for task in job.tasks)

    @property
    def has_outputs(self) -> bool:
        """Is anything to be kept of what its tasks write?"""
        return any(task.outputs for job in self.jobs for task in job.tasks)


def may_be_set(name: str) -> bool:
    """Whether a campaign may set this variable for its tasks."""
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)) and not (
        name in CLOSED_NAMES or name.startswith(("CIGRI_", "cigri_"))
    )


def write_batch(plan: BatchSpec, base: str, prelude: str) -> str:
    """sh text that creates the batch directory below `base` and stays in it; `prelude` stands at the head of each job.

    All of it is the account's alone. The shell's own umask is `$cigri_umask`, and holds again at the end: Slurm gives
    it to jobs.
    Exit 73: the directory exists or the batch was voided, nothing was changed. Exit 74: it could not be written, and
    what was written is gone again.
    """
    contents = _contents(plan, prelude)
    writes = "".join(f"printf %s {shlex.quote(text)} >{name} &&\n" for name, text in contents.items())
    size = sum(len(text.encode()) for text in contents.values())
    return f"""\
cigri_base={base}
cigri_umask=$(umask)
umask 077
mkdir -p -- "$cigri_base/outbox" "$cigri_base/c{plan.campaign_id}" && cd -- "$cigri_base/c{plan.campaign_id}" || exit 74
chmod go= -- "$cigri_base" 2>/dev/null # earlier versions let others in; some filesystems have no modes
if ! mkdir b{plan.batch_id}; then
    [ -d b{plan.batch_id} ] && exit 73
    exit 74
fi
if [ -e b{plan.batch_id}.void ]; then
    echo 'cigri: this batch was voided' >&2
    rmdir b{plan.batch_id}
    exit 73
fi
cd b{plan.batch_id} &&
{writes}chmod +x job{" script" if "script" in contents else ""} &&
[ "$(cat -- {" ".join(contents)} | wc -c)" -eq {size} ] || {{
    echo 'cigri: the batch could not be written' >&2
    cd -- "$cigri_base/c{plan.campaign_id}" && rm -rf b{plan.batch_id}
    exit 74
}}
umask "$cigri_umask"
"""


@cache
def wrapper_text(*parts: str, has_outputs: bool = False, is_shared: bool = False) -> str:
    """The wrapper and the parts before it, the same in every job of the kind."""
    whole = (*parts, "job", *(["outputs"] if has_outputs else []), *(["sharing"] if is_shared else []), "start")
    text = "".join(files(__package__).joinpath(f"{part}.sh").read_text(encoding="utf-8") for part in whole)
    return text.replace(RECORDS, RECORDS_OUTPUTS) if has_outputs else text


def _contents(plan: BatchSpec, prelude: str) -> dict[str, str]:
    """The files of the batch directory by name."""
    if not plan.jobs:
        raise ValueError("a batch without jobs")
    program = SCRIPT if (plan.script or "").startswith("#!") else AS_LOGIN
    blocks = {job.index: _job_block(job, program) for job in plan.jobs}
    if len(blocks) < len(plan.jobs):
        raise ValueError("a batch with two jobs of one index")
    chunk = _chunk({index: len(block) for index, block in blocks.items()})
    branches: dict[int, list[str]] = {}
    for index, block in sorted(blocks.items()):
        branches.setdefault((index - 1) // chunk, []).append(block)
    parts = [
        "features",
        "memory",
        *(["checkpoint"] if plan.checkpoint else []),
        *(["inputs"] if plan.has_inputs else []),
    ]
    if any(job.side > 1 for job in plan.jobs):
        if plan.checkpoint:
            raise ValueError("tasks that run side by side cannot be asked for checkpoints")
        parts.append("side")
    wrapper = wrapper_text(*parts, has_outputs=plan.has_outputs, is_shared=plan.sharing is not None)
    contents = {"job": _header(plan, chunk, prelude) + wrapper}
    for part, texts in branches.items():
        contents[f"tasks.{part}"] = "case $CIGRI_INDEX in\n" + "".join(texts) + "esac\n"
    if plan.script is not None:
        contents["script"] = plan.script if plan.script.startswith("#!") else STEP_HEADER + plan.script
    elif any(not task.argv for job in plan.jobs for task in job.tasks):
        raise ValueError("a task without a program in a batch without a script")
    if any("\0" in text for text in contents.values()):
        raise ValueError("a NUL character cannot reach a cluster")
    return contents


def _chunk(sizes: Mapping[int, int]) -> int:
    """How many indexes a file of tasks holds."""
    chunk = max(sizes)
    while chunk > 1:
        totals: dict[int, int] = {}
        for index, size in sizes.items():
            part = (index - 1) // chunk
            totals[part] = totals.get(part, 0) + size
        if max(totals.values()) <= CHUNK_BYTES:
            break
        chunk //= 2
    return chunk


def _job_block(job: JobSpec, program: str) -> str:
    if job.index < 1 or not job.tasks:
        raise ValueError(f"job {job.job_id}: index {job.index}, {len(job.tasks)} tasks")
    lines = "".join(_task_line(task, program) for task in job.tasks)
    call = f"{job.job_id} {len(job.tasks)} {job.priority} {job.side} {job.digest}".rstrip()
    return f"{job.index}) cigri_job {call}\n{lines};;\n"


def _task_line(task: TaskSpec, program: str) -> str:
    """The `program` of the batch is run where the task has none."""
    directory = task.directory.quoted() if task.directory else '"$cigri_directory"'
    own = ["CIGRI_CHECKPOINT=1"] if task.continues else []
    settings = "".join(f"{setting} " for setting in [*own, *_settings(task.environment)])
    words = " ".join(word.quoted() for word in task.argv) or program
    wanted = f'cigri_wanted() {{ "$1" {_outputs(task)}; }}\n' if task.outputs else ""
    links = _inputs_text("own", task.inputs) if task.inputs else ""
    return f"{links}{wanted}cigri_task {task.task_id} {task.number} {task.attempt} {directory} {settings}-- {words}\n"


def _outputs(task: TaskSpec) -> str:
    return " ".join(f"{'name' if is_name else 'match'} {shlex.quote(text)}" for text, is_name in task.outputs)


def _header(plan: BatchSpec, chunk: int, prelude: str) -> str:
    """The settings of the batch, at the head of `job`."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", plan.grid_key):
        raise ValueError(f"a grid key has letters, digits, _ and - only: {plan.grid_key!r}")
    exports = {
        "CIGRI_CAMPAIGN_ID": str(plan.campaign_id),
        "CIGRI_CAMPAIGNID": str(plan.campaign_id),
        "CIGRI_JOB_NAME": plan.campaign_name,
        "CIGRI_JOBNAME": plan.campaign_name,
        "CIGRI_BATCH_ID": str(plan.batch_id),
        "CIGRI_CLUSTER": plan.cluster,
        "CIGRI_USER": plan.user,
        "CIGRI_RESOURCES": plan.resources,
        "CIGRI_WALLTIME": as_clock(plan.walltime),
        "CIGRI_WALLTIME_SECONDS": str(plan.walltime),
    }
    exports |= {f"CIGRI_RESOURCE_{name.upper()}": str(amount) for name, amount in plan.amounts.items()}
    exported = " ".join(f"{name}={shlex.quote(value)}" for name, value in exports.items())
    return f"""\
#!/bin/sh
cigri_grid={plan.grid_key} cigri_batch={plan.batch_id} cigri_chunk={chunk}
cigri_patience={plan.patience} cigri_walltime={plan.walltime} {_signalling(plan)}
cigri_directory={plan.directory.quoted()} cigri_keep={"1" if plan.keep_tmp else ""}
cigri_inputs={"1" if plan.has_inputs else ""}
unset CIGRI_RESOURCE_MEM CIGRI_RESOURCE_TMP
export {exported}
cigri_environment() {{
    {" ".join(["export", *_settings(plan.environment)]) if plan.environment else ":"}
}}
cigri_nodes() {{ printf '%s\\n' "$CIGRI_NODE"; }}
unset CIGRI_CHECKPOINT CIGRI_INDEX CIGRI_NODE CIGRI_NODE_FILE CIGRI_REMOTE_ID CIGRI_SCRATCH cigri_epoch
unset cigri_features cigri_mode cigri_notice cigri_peaks cigri_space cigri_umask
{features_header(plan.features)}{_collecting(plan)}{_sharing(plan)}\
{SUM_OF if plan.has_inputs else ""}\
{_inputs_text("each", plan.inputs, plan.replaced) if plan.has_inputs else ""}\
{prelude}
"""


def _inputs_text(
    whose: str,
    inputs: Mapping[str, CachedFile],
    replaced: Mapping[str, Sequence[CachedFile]] = MappingProxyType({}),
) -> str:
    """A function that links each: those of all tasks of the batch, or (own) of the one that follows."""
    calls = "".join(
        f"    cigri_link {' '.join([file.name, shlex.quote(name), *(old.name for old in replaced.get(name, ()))])}"
        " || return\n"
        for name, file in inputs.items()
    )
    return f"cigri_{whose}_input() {{\n{calls or '    :' + chr(10)}}}\n"


def _signalling(plan: BatchSpec) -> str:
    if plan.checkpoint is None:
        return "cigri_checkpoint="
    signal, number, before, period = plan.checkpoint
    return f"cigri_checkpoint={signal} cigri_number={number} cigri_before={before} cigri_period={period or ''}"


def _collecting(plan: BatchSpec) -> str:
    return f"cigri_always={'1' if plan.collects_always else ''}\n" if plan.has_outputs else ""


def _sharing(plan: BatchSpec) -> str:
    if plan.sharing is None:
        return ""
    special = "2" if plan.sharing.group else "0"  # what is made in a directory of a group is the group's
    return f"cigri_mode={special}{plan.sharing.directory_mode:03o} cigri_given={shlex.quote(plan.sharing.group)}\n"


def _settings(environment: Mapping[str, str]) -> list[str]:
    """Words NAME=value."""
    for name in environment:
        if not may_be_set(name):
            raise ValueError(f"a campaign may not set the variable {name!r}")
    return [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
