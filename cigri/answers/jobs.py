"""Jobs, and what they wrote."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from cigri.answers.tasks import AttemptView
from cigri.states import JobKind, JobState, KillReason, Outcome
from cigri.text.plain import INLINE
from cigri.wrapper.job_features import Figures


class JobView(NamedTuple):
    """A job; `kill` is why somebody wanted it dead, `purged_at` when its campaign's files left the clusters.

    `halted_since`: it is held in the queue, or suspended; `is_held`: its user wants it so. `resources`: what each task
    of its campaign asks for there, as it is described.
    """

    id: int
    campaign_id: int
    user: str
    kind: JobKind
    state: JobState
    cluster: str
    width: int
    walltime: int
    batch_id: int | None
    tag: str | None
    array_index: int | None
    remote_id: str | None
    local_user: str | None
    node: str | None
    created_at: datetime
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    outcome: Outcome | None
    exit_code: int | None
    reason: str | None
    kill: KillReason | None
    kill_asked_by: str | None
    checkpoint_asked_at: datetime | None
    checkpoint_heard_at: datetime | None
    purged_at: datetime | None
    halted_since: datetime | None
    is_held: bool
    resources: dict[str, Any] | None = None


class WholeJob(NamedTuple):
    """A job, what it carries, and, while it runs, what its end would waste.

    `given`: what it asks for in all beside cores, MB of `mem` and `tmp`; `warnings`: why not all that the job says of
    itself is told.
    """

    job: Annotated[JobView, INLINE]
    exit_code_means: str | None
    given: dict[str, int]
    figures: Figures | None
    attempts: list[AttemptView]
    warnings: list[str]


class JobOutput(NamedTuple):
    """The end of an output; `text` None: there is none. `is_cut`: it began earlier."""

    title: str
    text: str | None
    is_cut: bool


class JobOutputs(NamedTuple):
    """In the order of the job's tasks, of each as asked for; `why_missing` says it of those that are not there."""

    outputs: list[JobOutput]
    why_missing: str
