"""What `gridstat` shows of tasks, jobs and attempts."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cigri.api_models.tasks import AttemptView, TaskView
from cigri.cli.command import escape_text, print_error
from cigri.cli.table_printing import print_fields, print_table
from cigri.formats.units import COUNTED_IN_MB, as_size, localised
from cigri.presentation.exit_codes import explain
from cigri.presentation.formatting import format_duration, format_time, parameter_words, shortened
from cigri.presentation.inputs import SHOWN_DIGITS, were_replaced
from cigri.states import JobState, Outcome, TaskState

if TYPE_CHECKING:
    from cigri.api_models.files import InputVersionView
    from cigri.api_models.jobs import JobDetail, JobView
    from cigri.api_models.tasks import TaskDetail
    from cigri.wrapper.termination_cost import TerminationCost

if TYPE_CHECKING:
    from cigri.api_models.jobs import JobStreamTails

TASK_COLUMNS = (
    "Task",
    "Parameter",
    "State",
    "Attempts",
    "Job",
    "Cluster",
    "Remote id",
    "Exit code",
    "Duration",
    "Node",
)
JOB_ATTEMPTS = ("Position", "Task", "Attempt", "State", "Exit code", "Start", "Duration", "Parameter")
INPUTS = ("Inputs", "Cluster", "Input", "SHA-256", "Bytes", "Replaced")
TASK_ATTEMPTS = ("Attempt", "Job", "Cluster", "Remote id", "State", "Exit code", "Start", "Duration", "Node", "Reason")


def print_tasks(tasks: Sequence[TaskView], headerless: bool) -> None:
    """What `gridstat -f` shows: a line for each task with the attempt that was a success, or the last."""
    rows = [
        (
            task.number,
            shortened(parameter_words(task.parameter)),
            _task_state(task),
            task.attempts,
            task.job_id,
            task.cluster,
            task.remote_id,
            task.exit_code,
            format_duration(task.seconds),
            task.node,
        )
        for task in tasks
    ]
    print_table(TASK_COLUMNS, rows, prose=("Parameter", "Node"), headerless=headerless)


def print_job(whole: "JobDetail", headerless: bool) -> None:
    """What `gridstat -j` shows: its fields, and a line for each attempt that it carries."""
    amounts = ", ".join(f"{name} {amount}{' MB' * (name in COUNTED_IN_MB)}" for name, amount in whole.given.items())
    print_fields([*_fields(whole.job), ("Given", amounts or None), *_figures(whole.figures)])
    if whole.attempts:
        print()
        rows = [
            (
                attempt.position,
                str(attempt.task_number),  # the first one is 0, and says something all the same
                attempt.number,
                _attempt_state(attempt),
                attempt.exit_code,
                format_time(attempt.started_at),
                format_duration(attempt.seconds),
                shortened(parameter_words(attempt.parameter)),
            )
            for attempt in whole.attempts
        ]
        print_table(JOB_ATTEMPTS, rows, prose=("Parameter",), headerless=headerless)
    _print_inputs(whole.inputs, headerless)


def _print_inputs(inputs: Sequence["InputVersionView"], headerless: bool) -> None:
    """Which ones tasks found, where there was another version of them."""
    if not were_replaced(inputs):
        return
    rows = [
        (
            each.version,
            each.cluster,
            each.to,
            each.sha256[:SHOWN_DIGITS],
            each.size,
            format_time(each.replaced_at) or "-",
        )
        for each in inputs
    ]
    print()
    print_table(INPUTS, rows, prose=("Input",), headerless=headerless)


def print_task(whole: "TaskDetail", headerless: bool) -> None:
    """What `gridstat -T` shows: its fields and a line for each attempt; of an archived task only how the last ended."""
    task, attempts = whole.task, whole.attempt_list
    are_told = were_replaced(whole.inputs)
    are_measured = any(attempt.peak_memory for attempt in attempts)
    print_fields(
        [
            ("Task", task.id),
            ("Campaign", task.campaign_id),
            ("Number", task.number),
            ("Parameter", shortened(parameter_words(task.parameter), 2000)),
            ("State", task.state),
            ("Attempts", task.attempts),
            ("Last exit code", _exit_code(task.exit_code) if task.id is None else None),
            ("Last cluster", task.cluster if task.id is None else None),
            ("Last node", task.node if task.id is None else None),
        ]
    )
    if attempts:
        print()
        rows = [
            (
                attempt.number,
                attempt.job_id,
                attempt.cluster,
                attempt.remote_id,
                _attempt_state(attempt),
                attempt.exit_code,
                format_time(attempt.started_at),
                format_duration(attempt.seconds),
                attempt.node,
                attempt.reason and localised(attempt.reason),
                *([attempt.peak_memory and as_size(attempt.peak_memory)] if are_measured else []),
                *([attempt.inputs_version] if are_told else []),
            )
            for attempt in attempts
        ]
        columns = (*TASK_ATTEMPTS, *(["Memory"] if are_measured else []), *(["Inputs"] if are_told else []))
        print_table(columns, rows, prose=("Node", "Reason"), headerless=headerless)
    _print_inputs(whole.inputs, headerless)


def _fields(job: "JobView") -> list[tuple[str, object]]:
    kill = f"{job.kill}, asked by {job.kill_asked_by}" if job.kill else None
    return [
        ("Job", job.id),
        ("Campaign", job.campaign_id),
        ("User", job.user),
        ("Kind", job.kind),
        ("State", _job_state(job.state, job.halted_since is not None)),
        ("Since", format_time(job.halted_since)),
        ("Hold", f"held by its user; `gridresume -j {job.id}` lets it go on" if job.is_held else None),
        ("Outcome", job.outcome.replace("_", " ") if job.outcome else None),
        ("Exit code", _exit_code(job.exit_code)),
        ("Reason", job.reason and localised(job.reason)),
        ("Kill", kill),
        ("Checkpoints", _rhythm(job)),
        ("Checkpoint asked", format_time(job.checkpoint_asked_at)),
        ("Task signalled", format_time(job.checkpoint_heard_at)),
        ("Cluster", job.cluster),
        ("Local user", job.local_user),
        ("Remote id", job.remote_id),
        ("Batch", f"{job.tag}, index {job.array_index}" if job.tag else None),
        ("Node", job.node),
        ("Cores", job.width),
        ("Walltime", format_duration(job.walltime)),
        ("Created", format_time(job.created_at)),
        ("Submitted", format_time(job.submitted_at)),
        ("Started", format_time(job.started_at)),
        ("Ended", format_time(job.ended_at)),
    ]


def _rhythm(job: "JobView") -> str | None:
    """How often the grid chose to ask for checkpoints, and why."""
    if job.checkpoint_period is None:
        return None
    period, life, cost = map(format_duration, (job.checkpoint_period, job.checkpoint_life, job.checkpoint_cost))
    return f"every {period}, chosen by the grid: a job is killed after {life}, a checkpoint takes {cost}"


def _figures(figures: "TerminationCost | None") -> list[tuple[str, object]]:
    """What the end of a running job would waste, in seconds of one core."""
    if figures is None:
        return []
    return [
        ("remaining_time", format_duration(figures.remaining_time)),
        ("By its limit", format_duration(figures.enforced_time)),
        ("draining_waste", _waste(figures.draining_waste)),
        ("kill_waste", _waste(figures.kill_waste)),
        ("Figures", "the job's own" if figures.is_own else "the grid's"),
    ]


def _waste(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.0f} CPU s"


def _exit_code(exit_code: int | None) -> str | None:
    means = explain(exit_code)
    return None if exit_code is None else f"{exit_code}: {means}" if means else str(exit_code)


def _task_state(task: TaskView) -> str:
    """Where its job is, or how its last attempt ended if not well."""
    if task.state is TaskState.ASSIGNED and task.job_state is not None:
        return _job_state(task.job_state, bool(task.is_halted))
    bad = task.outcome not in (None, Outcome.SUCCESS, Outcome.FAILURE)
    return f"{task.state} ({(task.outcome or '').replace('_', ' ')})" if bad else str(task.state)


def _attempt_state(attempt: AttemptView) -> str:
    replica = " (replica)" if attempt.is_replica else ""
    state = attempt.outcome.replace("_", " ") if attempt.outcome else _job_state(attempt.job_state, attempt.is_halted)
    return state + replica


def _job_state(state: JobState, is_halted: bool) -> str:
    if is_halted:
        return "suspended" if state is JobState.RUNNING else "held"
    return state.replace("_", " ")


# `gridstat -j JOB -O -E`: what a job wrote, as it is.


def print_outputs(job_id: int, answer: "JobStreamTails") -> int:
    """Print each output, under a title where there are several; 1 when one of them is missing."""
    has_titles = len(answer.outputs) > 1
    for output in answer.outputs:
        if output.text is None:
            print_error(f"job {job_id}: {output.title}: {localised(answer.why_missing)}")
            continue
        if has_titles:
            print(f"==> {output.title} <==")
        if output.is_cut:
            print_error("only the end of it is shown")
        _write(output.text, ends_line=has_titles)
    return int(any(output.text is None for output in answer.outputs))


def _write(text: str, *, ends_line: bool) -> None:
    sys.stdout.write(escape_text(text) if sys.stdout.isatty() else text)
    if ends_line and text and not text.endswith("\n"):
        sys.stdout.write("\n")
