"""How campaigns stand, and what stands in their way."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from cigri.api_models.dependencies import DependencyView
from cigri.api_models.failures import FailureGroup
from cigri.formats.json_values import INLINE
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType, JobState, Outcome, StepState, TaskState


class CampaignView(NamedTuple):
    """A campaign: its tasks by state, and what is forecast of it."""

    id: int
    """The campaign's number."""
    name: str
    """As its user called it."""
    user: str
    """Whose it is."""
    project: str
    """The project it counts for, or ""."""
    type: CampaignType
    """Whether it does its tasks, or tests clusters with a few of them."""
    state: CampaignState
    """Where it stands in its life."""
    submitted_at: datetime
    """When it was submitted."""
    ended_at: datetime | None
    """When its last task ended, or it was cancelled; null while it is open."""
    archived_at: datetime | None
    """When its tasks went to the history; null before."""
    blocked: int
    """Tasks that wait for other campaigns."""
    waiting: int
    """Tasks that no job carries."""
    assigned: int
    """Tasks in jobs."""
    done: int
    """Tasks that are done."""
    failed: int
    """Tasks that failed, and are not tried again by themselves."""
    cancelled: int
    """Tasks that were given up."""
    errors: int
    """Open events that its user should deal with."""
    throughput: float | None
    """Tasks done per hour: of late, or of its whole life once it has ended."""
    mean: float | None
    """Seconds of a successful task, on the mean."""
    deviation: float | None
    """The standard deviation of these seconds."""
    median: float | None
    """Half of the successful tasks took fewer seconds."""
    p95: float | None
    """95 % of the successful tasks took fewer seconds."""
    eta: datetime | None
    """When it is expected to end."""
    eta_low: datetime | None
    """The early end of the interval that holds its end with a probability of 90 %."""
    eta_high: datetime | None
    """The late end of this interval."""
    is_held: bool
    """Whether its user wants it to stand still as a whole."""
    held_by: str | None
    """Who has held it as a whole."""
    held_at: datetime | None
    """When that was."""
    scheduler: str
    """The campaign scheduler that its description names, or ""."""
    max_replicas: int | None
    """Attempts beside the first that a last task may have; null: last tasks are not replicated."""
    published: datetime | None
    """Its end as others are told."""
    pressure: float | None
    """Seconds of the critical path to its end."""
    priority: int
    """Its priority, by the operator."""
    own_priority: int
    """Its priority among its owner's campaigns."""
    total: int
    """All its tasks."""
    running: int
    """Jobs that run."""
    has_failed_epilogue: bool
    """Whether its epilogue failed on a cluster."""
    served_by: str
    """The campaign scheduler that serves it now."""
    uncollected: int
    """Tasks whose outputs are still to come from clusters by themselves."""
    uncollected_bytes: int
    """How much these outputs are."""
    collected: int
    """Tasks whose outputs have come so."""
    lost: int
    """Tasks whose outputs were to come so, and were given up."""

    @property
    def is_open(self) -> bool:
        """Whether tasks may still be done, held or not."""
        return self.state in OPEN_CAMPAIGNS


class CampaignClusterView(NamedTuple):
    """A campaign on one of its clusters."""

    campaign_id: int
    """The campaign's number."""
    cluster: str
    """One of its clusters."""
    to_launch: int
    """Its jobs that are to be submitted there."""
    waiting: int
    """Its jobs that wait there."""
    running: int
    """Its jobs that run there."""
    prologue: StepState
    """How far its prologue is there."""
    epilogue: StepState
    """How far its epilogue is there."""
    lacks_inputs: bool
    """Whether files that its tasks need are on their way there."""
    outputs_wait: bool
    """Whether so much of its outputs, or of others', is still to come from there that it gets no new jobs."""
    done: int
    """Attempts that were successes there."""
    failed: int
    """Attempts that failed there."""
    resubmitted: int
    """Attempts that were tried again."""
    width: int
    """Cores that a task has there."""
    profiled: int
    """Successful tasks there of which it is known what they used."""
    cpu: float | None
    """Seconds of processors that one of these used, on the mean."""
    most_cpu: float | None
    """Seconds of processors that the one that used most has used."""
    busy: float | None
    """Cores that such a task kept busy while it ran, on the mean."""
    bytes_read: float | None
    """Bytes that one of them read, on the mean."""
    most_read: float | None
    """Bytes that the one that read most has read."""
    bytes_written: float | None
    """Bytes that one of them wrote, on the mean."""
    most_written: float | None
    """Bytes that the one that wrote most has written."""
    most_memory: int | None
    """The most bytes of memory that one of its tasks was seen with there; null: nobody has looked."""
    asked_memory: int | None
    """Bytes of memory that each of its tasks asks for there; null: none, or as many as its parameters say."""
    throughput: float | None
    """Tasks done there per hour."""
    mean: float | None
    """Seconds of a successful task there, on the mean."""
    deviation: float | None
    """The standard deviation of these seconds."""
    median: float | None
    """Half of the successful tasks took fewer seconds."""
    p95: float | None
    """95 % of the successful tasks took fewer seconds."""
    set_aside_until: datetime | None
    """Until when too many failures keep the campaign from it."""
    why: str | None
    """What the open event says of that, for the owner; null for others."""
    is_enabled: bool
    """Whether the operator wants the cluster to be used."""
    paused_until: datetime | None
    """When a cluster that is away is visited again."""
    free: int | None
    """Free cores of the cluster; null: never visited."""
    fallback_because: str
    """Why its jobs run on CiGri's own host instead, or ""."""
    drained_by: datetime | None
    """When the cluster is to be empty, if the operator drains it."""
    is_held: bool
    """Whether its user wants this share to stand still."""
    held: int
    """So many of the waiting jobs are held there."""
    suspended: int
    """So many of the running jobs are suspended there."""
    job_type: str
    """The kind of jobs it has there, as its description says."""
    walltime: int
    """Seconds that a job may take there."""
    doubted: int
    """Tasks that are done, and seem not to have been."""
    is_sink: bool
    """Whether the cluster is set aside for doubted results."""
    is_barred: bool
    """Whether no queue there is eligible for any of its buckets."""
    cluster_hours: dict[str, Any]
    """What the cluster's configuration says of hours, which jobs of some types follow."""


class RunStatus(NamedTuple):
    """What stands in a campaign's way on a cluster."""

    state: str
    """What stands in the way, in one word."""
    explanation: str = ""
    """The same in a sentence; "" where the word says all."""


class CampaignClusterStatus(NamedTuple):
    """A campaign on one of its clusters."""

    part: Annotated[CampaignClusterView, INLINE]
    """The campaign there."""
    obstacle: RunStatus
    """What stands in its way there."""


class ClusterTestAttempt(NamedTuple):
    """A cluster that a test campaign tries, the task that does, its last attempt, and what was `said` of its failure.

    Once the campaign is archived nobody knows any more of its job, nor of clusters where there was none.
    """

    cluster: str
    """A cluster that is tested."""
    task_number: int
    """The task that tests it, by its number in the campaign."""
    state: TaskState
    """The state of this task."""
    job_id: int | None
    """The job of its last attempt."""
    job_state: JobState | None
    """The state of this job."""
    outcome: Outcome | None
    """How the attempt ended."""
    exit_code: int | None
    """The exit code of the attempt."""
    seconds: float | None
    """How long the attempt took."""
    node: str | None
    """Where it ran."""
    said: str | None
    """The end of its standard error, for the owner."""


class ClusterTestResult(NamedTuple):
    """A cluster, and how its test went."""

    tried: Annotated[ClusterTestAttempt, INLINE]
    """The cluster, and the task that tests it."""
    result: str
    """Passed, failed, cancelled, running, prologue, waiting or cannot."""
    why: str
    """Why it is so, in a sentence."""


class CampaignDetail(NamedTuple):
    """A campaign with what is known of it beyond its numbers."""

    campaign: Annotated[CampaignView, INLINE]
    """The campaign's numbers."""
    calibration: float | None
    """The share of the forecast intervals that held its end; null while it is open."""
    intervals: int
    """How many intervals were forecast."""
    default_scheduler: str
    """The campaign scheduler of campaigns that name none."""
    clusters: list[CampaignClusterStatus]
    """The campaign on each of its clusters."""
    failures: list[FailureGroup]
    """How its tasks failed, those that failed alike together."""
    tests: list[ClusterTestResult]
    """Of a test campaign, its clusters."""
    after: list[DependencyView]
    """Campaigns that it waits for, or has waited for."""
    files_until: datetime | None
    """Until when what its tasks wrote stays on the clusters; null: it is open, or all of it was removed."""


class ReplicaStatistics(NamedTuple):
    """Replicas of a campaign's last tasks."""

    begun: int
    """Replicas of its last tasks that were begun."""
    won: int
    """Replicas that ended before the attempt that they repeat."""
    live: int
    """Replicas that have not ended."""
    burnt: float
    """Core-seconds of attempts that lost, replicas or not."""


# A campaign's tasks in a strip of cells, few enough to be seen at once.

MOST_CELLS = 1000
"""Of a strip."""


class TaskStripCell(NamedTuple):
    """Tasks that follow each other."""

    first: int
    """The number of the first of them."""
    last: int
    """The number of the last of them."""
    worst: TaskState
    """The state of at least one of them: failed, else cancelled, waiting, assigned or done, the first that there is."""
    counts: dict[str, int]
    """How many of them are in each state that there is."""
