"""Tasks, and each attempt at them."""

from datetime import datetime
from typing import Annotated, NamedTuple

from cigri.api_models.files import InputVersionView
from cigri.formats.json_values import INLINE
from cigri.states import JobState, Outcome, TaskState


class TaskView(NamedTuple):
    """A task and the attempt that was a success, or the last."""

    id: int | None
    """The task's id; null once the campaign is archived."""
    campaign_id: int
    """Its campaign."""
    number: int
    """Its number in the campaign, from 0 on."""
    parameter: object
    """As it was given, for the owner; null for others."""
    state: TaskState
    """Where it stands in its life."""
    attempts: int
    """How often it was tried."""
    job_id: int | None
    """The job of the attempt that was a success, or of the last."""
    job_state: JobState | None
    """The state of this job."""
    cluster: str | None
    """Where this job is."""
    remote_id: str | None
    """The job's number in the batch system."""
    outcome: Outcome | None
    """How the attempt ended."""
    exit_code: int | None
    """Its exit code."""
    started_at: datetime | None
    """When it began."""
    seconds: float | None
    """How long it ran."""
    node: str | None
    """Where it ran."""
    is_halted: bool | None
    """Whether its job is held or suspended."""


class AttemptView(NamedTuple):
    """One try of a task."""

    task_id: int
    """The task's id."""
    task_number: int
    """The task's number in its campaign."""
    number: int
    """Which attempt at the task this is."""
    is_replica: bool
    """Whether it runs beside another."""
    job_id: int
    """The job that carries it."""
    position: int
    """Its place in this job."""
    job_state: JobState
    """The state of this job."""
    cluster: str
    """Where this job is."""
    remote_id: str | None
    """The job's number in the batch system."""
    node: str | None
    """Where it ran."""
    outcome: Outcome | None
    """How it ended."""
    exit_code: int | None
    """Its exit code."""
    started_at: datetime | None
    """When it began."""
    seconds: float | None
    """How long it ran."""
    reason: str | None
    """Why it ended so."""
    parameter: object
    """The task's parameter, for the owner; null for others."""
    is_halted: bool
    """Whether its job is held or suspended."""
    inputs_version: int | None = None
    """Which of the inputs of its campaign there it found: 1 are those of the submission; null: it was not sent yet."""
    halted_seconds: float = 0.0
    """For how long it stood still, held or suspended, which is not among its seconds."""
    peak_memory: int | None = None
    """The most bytes of memory that it was seen with; null where nobody has looked."""


class TaskCommand(NamedTuple):
    """What a task is on one cluster, for its owner."""

    cluster: str
    """One of the campaign's clusters."""
    directory: str
    """Where it runs, quoted for sh."""
    command: str
    """What it runs, quoted for sh."""
    by_hand: str
    """A line for sh there that does the same: with the variables of the description, and the two numbers."""


class TaskDetail(NamedTuple):
    """A task and all its attempts."""

    task: Annotated[TaskView, INLINE]
    """The task."""
    attempt_list: list[AttemptView]
    """Its attempts, the first one first; none once the campaign is archived."""
    inputs: list[InputVersionView]
    """The inputs of its campaign that its attempts found; for the owner, others get none."""


class FoundTasks(NamedTuple):
    """Tasks that were looked for; a search ends before it takes long, and says where it goes on."""

    tasks: list[TaskView]
    """Those that were found, in the order of their numbers."""
    next: int | None
    """The number of the task that was looked at last, behind which the search goes on; null: all were looked at."""
