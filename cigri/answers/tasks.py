"""Tasks, and each attempt at them."""

from datetime import datetime
from typing import Annotated, NamedTuple

from cigri.states import JobState, Outcome, TaskState
from cigri.text.plain import INLINE


class TaskView(NamedTuple):
    """A task and the attempt that was a success, or the last.

    `id` and what is known of the job are None once the campaign is archived.
    """

    id: int | None
    campaign_id: int
    number: int
    parameter: object
    state: TaskState
    attempts: int
    job_id: int | None
    job_state: JobState | None
    cluster: str | None
    remote_id: str | None
    outcome: Outcome | None
    exit_code: int | None
    started_at: datetime | None
    seconds: float | None
    node: str | None
    is_halted: bool | None


class AttemptView(NamedTuple):
    """One try of a task; `position` is its place in the job."""

    task_id: int
    task_number: int
    number: int
    is_replica: bool
    job_id: int
    position: int
    job_state: JobState
    cluster: str
    remote_id: str | None
    node: str | None
    outcome: Outcome | None
    exit_code: int | None
    started_at: datetime | None
    seconds: float | None
    reason: str | None
    parameter: object
    is_halted: bool


class WholeTask(NamedTuple):
    """A task and all its attempts, the first one first; none once the campaign is archived."""

    task: Annotated[TaskView, INLINE]
    attempt_list: list[AttemptView]
