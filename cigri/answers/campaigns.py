"""How campaigns stand, and what stands in their way."""

from datetime import datetime
from typing import Annotated, Any, NamedTuple

from cigri.answers.failures import FailureKind
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType, JobState, Outcome, StepState, TaskState
from cigri.text.plain import INLINE


class CampaignView(NamedTuple):
    """A campaign; its tasks by state (`assigned`: in jobs), its open `errors`, and what is forecast of it.

    The end, `eta`, lies between `eta_low` and `eta_high` with a probability of 90 %; as others are told it is
    `published`, and `pressure` is the time in seconds of the critical path to it.
    `is_held`: its user wants it to stand still as a whole. `scheduler`: the one it names; `max_replicas` None: its last
    tasks are not replicated. `priority` is the operator's, `own_priority` the user's. `throughput`: of late, of an
    ended campaign of its whole life. `running`: jobs. `served_by`: the campaign scheduler of now.
    """

    id: int
    name: str
    user: str
    project: str
    type: CampaignType
    state: CampaignState
    submitted_at: datetime
    ended_at: datetime | None
    archived_at: datetime | None
    waiting: int
    assigned: int
    done: int
    failed: int
    cancelled: int
    errors: int
    throughput: float | None
    mean: float | None
    deviation: float | None
    median: float | None
    p95: float | None
    eta: datetime | None
    eta_low: datetime | None
    eta_high: datetime | None
    is_held: bool
    scheduler: str
    max_replicas: int | None
    published: datetime | None
    pressure: float | None
    priority: int
    own_priority: int
    total: int
    running: int
    has_failed_epilogue: bool
    served_by: str

    @property
    def is_open(self) -> bool:
        """In treatment or paused: tasks may still be done."""
        return self.state in OPEN_CAMPAIGNS


class PartView(NamedTuple):
    """A campaign on one of its clusters: live jobs by state, steps, ended attempts, rates, and what stands in the way.

    `set_aside_until` and `why` are this campaign's, and `why` is for its owner; what follows, to `fallback_because`, is
    the cluster's.
    `cluster_hours` is what its configuration says of them, which jobs of some types follow.
    `is_held` is the user's wish; so many of the waiting jobs are `held` there, and of the running ones `suspended`.
    `doubted` tasks are done, and seem not to have been; `is_sink`: for that the cluster is set aside. `is_barred`: no
    queue there is eligible for any of its buckets.
    """

    campaign_id: int
    cluster: str
    to_launch: int
    waiting: int
    running: int
    prologue: StepState
    epilogue: StepState
    done: int
    failed: int
    resubmitted: int
    throughput: float | None
    mean: float | None
    deviation: float | None
    median: float | None
    p95: float | None
    set_aside_until: datetime | None
    why: str | None
    is_enabled: bool
    paused_until: datetime | None
    free: int | None
    fallback_because: str
    drained_by: datetime | None
    is_held: bool
    held: int
    suspended: int
    job_type: str
    walltime: int
    doubted: int
    is_sink: bool
    is_barred: bool
    cluster_hours: dict[str, Any]


class Obstacle(NamedTuple):
    """What stands in a campaign's way on a cluster, in one word; `explanation` is "" where that says all."""

    state: str
    explanation: str = ""


class ShareView(NamedTuple):
    """A campaign on one of its clusters."""

    part: Annotated[PartView, INLINE]
    obstacle: Obstacle


class TriedCluster(NamedTuple):
    """A cluster that a test campaign tries, the task that does, its last attempt, and what was `said` of its failure.

    Once the campaign is archived nobody knows any more of its job, nor of clusters where there was none.
    """

    cluster: str
    task_number: int
    state: TaskState
    job_id: int | None
    job_state: JobState | None
    outcome: Outcome | None
    exit_code: int | None
    seconds: float | None
    node: str | None
    said: str | None


class ClusterTest(NamedTuple):
    """`result` of the test of a cluster: passed, failed, cancelled, running, prologue, waiting or cannot; and why."""

    tried: Annotated[TriedCluster, INLINE]
    result: str
    why: str


class WholeCampaign(NamedTuple):
    """A campaign with what is known of it beyond its numbers.

    `calibration`: of so many `intervals` that were forecast of its end the share that held it; None while it is open.
    `default_scheduler` serves campaigns that name none. `tests`: of a test campaign.
    """

    campaign: Annotated[CampaignView, INLINE]
    calibration: float | None
    intervals: int
    default_scheduler: str
    clusters: list[ShareView]
    failures: list[FailureKind]
    tests: list[ClusterTest]


class ReplicasView(NamedTuple):
    """So many replicas were `begun`: some `won`, some are `live`. Losers, replicas or not, `burnt` core-seconds."""

    begun: int
    won: int
    live: int
    burnt: float
