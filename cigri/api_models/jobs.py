"""Jobs, and what they wrote."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from cigri.api_models.files import InputVersionView
from cigri.api_models.tasks import AttemptView
from cigri.formats.json_values import INLINE
from cigri.states import JobKind, JobState, KillReason, Outcome
from cigri.wrapper.termination_cost import TerminationCost


class ClusterJobView(NamedTuple):
    """A job that lives on a cluster, in a line."""

    id: int
    """The job's number."""
    campaign_id: int
    """Its campaign."""
    user: str
    """Whose it is."""
    kind: JobKind
    """Whether it carries tasks, or is a prologue or an epilogue."""
    state: JobState
    """Where it stands in its life; it has not ended."""
    is_held: bool
    """Whether it is to stand still, by itself or with its campaign."""
    width: int
    """Its cores."""
    walltime: int
    """Seconds that it may take."""
    remote_id: str | None
    """Its number in the batch system; null: it was not submitted yet."""
    node: str | None
    """The node that it runs on; null: it does not run, or nobody said where."""
    created_at: datetime
    """When the grid made it."""
    submitted_at: datetime | None
    """When it was submitted."""
    started_at: datetime | None
    """When it began to run."""


class JobView(NamedTuple):
    """A job."""

    id: int
    """The job's number."""
    campaign_id: int
    """Its campaign."""
    user: str
    """Whose it is."""
    kind: JobKind
    """Whether it carries tasks, or is a prologue or an epilogue."""
    state: JobState
    """Where it stands in its life."""
    cluster: str
    """Where it runs."""
    width: int
    """Its cores."""
    walltime: int
    """Seconds that it may take."""
    batch_id: int | None
    """The submission that it was a part of."""
    tag: str | None
    """The name of this submission in the batch system."""
    array_index: int | None
    """Its place in the submission."""
    remote_id: str | None
    """Its number in the batch system."""
    local_user: str | None
    """As whom it runs there."""
    node: str | None
    """The node that it runs on."""
    created_at: datetime
    """When the grid made it."""
    submitted_at: datetime | None
    """When it was submitted."""
    started_at: datetime | None
    """When it began to run."""
    ended_at: datetime | None
    """When it ended."""
    outcome: Outcome | None
    """How it ended."""
    exit_code: int | None
    """Its exit code."""
    reason: str | None
    """Why it ended so, in the batch system's words or ours."""
    kill: KillReason | None
    """Why somebody wanted it dead."""
    kill_asked_by: str | None
    """Who wanted it dead."""
    checkpoint_asked_at: datetime | None
    """When somebody asked it to save its state."""
    checkpoint_heard_at: datetime | None
    """When its task was signalled for that."""
    purged_at: datetime | None
    """When its files were removed from the cluster."""
    halted_since: datetime | None
    """Since when it is held in the queue, or suspended."""
    is_held: bool
    """Whether its user wants it to stand still."""
    resources: dict[str, Any] | None = None
    """What each of its tasks asks for there, as it is described, or as it was resubmitted with."""
    checkpoint_period: int | None = None
    """Seconds between two checkpoints, where the grid has chosen them."""
    checkpoint_life: float | None = None
    """Seconds in the mean until such a job was killed there, when that was chosen."""
    checkpoint_cost: float | None = None
    """Seconds that a checkpoint was thought to take then."""


class JobDetail(NamedTuple):
    """A job, what it carries, and what its end would waste."""

    job: Annotated[JobView, INLINE]
    """The job."""
    exit_code_means: str | None
    """What its exit code says; null where it is the program's own business."""
    given: dict[str, int]
    """What it asks for in all beside cores, MB of mem and tmp."""
    figures: TerminationCost | None
    """What its end would waste, while it runs."""
    attempts: list[AttemptView]
    """What it carries."""
    inputs: list[InputVersionView]
    """The inputs of its campaign that its tasks find; for the owner, others get none."""
    warnings: list[str]
    """Why not all that the job says of itself is told."""


class StreamTailView(NamedTuple):
    """The end of an output."""

    title: str
    """Whose output it is."""
    text: str | None
    """The end of it; null: there is none."""
    is_cut: bool
    """Whether it began earlier."""


class JobStreamTails(NamedTuple):
    """What a job wrote."""

    outputs: list[StreamTailView]
    """In the order of the job's tasks, of each as asked for."""
    why_missing: str
    """Why those are not there that are not."""
