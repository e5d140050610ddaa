"""The life of each thing: its states and the moves allowed between them; the database has the same words as enums."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

State = TypeVar("State", bound=StrEnum)


class CampaignType(StrEnum):
    DEFAULT = "default"
    TEST = "test"


class CampaignState(StrEnum):
    IN_TREATMENT = "in_treatment"
    PAUSED = "paused"
    TERMINATED = "terminated"
    CANCELLED = "cancelled"


class TaskState(StrEnum):
    """WAITING: to be done. ASSIGNED: a live job carries it. The others are final until a person re-opens the task."""

    WAITING = "waiting"
    ASSIGNED = "assigned"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobKind(StrEnum):
    TASKS = "tasks"
    PROLOGUE = "prologue"
    EPILOGUE = "epilogue"


class JobState(StrEnum):
    """TO_LAUNCH: chosen. LAUNCHING: its batch is committed, the submission may be under way. SUBMITTED: waits there."""

    TO_LAUNCH = "to_launch"
    LAUNCHING = "launching"
    SUBMITTED = "submitted"
    RUNNING = "running"
    ENDED = "ended"


class BatchState(StrEnum):
    """VOID: never submitted, and made harmless on the cluster in case it is submitted late."""

    LAUNCHING = "launching"
    SUBMITTED = "submitted"
    VOID = "void"


class StepState(StrEnum):
    """A campaign's prologue or epilogue on one cluster."""

    NONE = "none"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Outcome(StrEnum):
    """How an attempt ended. DOUBTFUL: as a success, but so soon that something is wrong with its cluster or node.

    SUPERSEDED: another attempt at its task has won, whatever became of this one.
    """

    SUCCESS = "success"
    DOUBTFUL = "doubtful"
    RESUBMIT = "resubmit"
    RESUBMIT_END = "resubmit_end"
    CHECKPOINTED = "checkpointed"
    FAILURE = "failure"
    WALLTIME = "walltime"
    OUT_OF_MEMORY = "out_of_memory"
    PREEMPTED = "preempted"
    NODE_FAILURE = "node_failure"
    LOST = "lost"
    KILLED = "killed"
    WITHDRAWN = "withdrawn"
    REFUSED = "refused"
    SUPERSEDED = "superseded"


class KillReason(StrEnum):
    """Why we kill. USER ends the task; SUPERSEDED: it is over already; after most others the task goes back in line.

    LISTED_AGAIN: the job itself is over, and its cluster has it back in its queue.
    """

    USER = "user"
    FLOOD = "flood"
    WAITING_TOO_LONG = "waiting_too_long"
    WALLTIME = "walltime"
    DRAIN = "drain"
    HOURS = "hours"
    SUPERSEDED = "superseded"
    FAIRNESS = "fairness"
    LISTED_AGAIN = "listed_again"


class SubjectKind(StrEnum):
    """Whom a target or a quota is about."""

    USER = "user"
    PROJECT = "project"


class CeilingKind(StrEnum):
    """What keeps a campaign from more jobs by somebody's word. TESTS: those that a user may have on a cluster."""

    LIMIT = "limit"
    USER = "user"
    PROJECT = "project"
    MAX_JOBS = "max_jobs"
    TESTS = "tests"


class CutReason(StrEnum):
    """What keeps a campaign from more jobs on a cluster in a cycle."""

    WAITING_LIMIT = "waiting_limit"
    MAX_JOBS = "max_jobs"
    TRIAL = "trial"
    SCOUTS = "scouts"
    LIMIT = "limit"
    USER = "user"
    PROJECT = "project"
    FULL = "full"
    ORDER = "order"
    RESERVED = "reserved"
    FORECAST = "forecast"
    STRESS = "stress"
    MAX_QUEUED = "max_queued"
    SHARE = "share"
    TESTS = "tests"


class PropertyLevel(StrEnum):
    """Where a property of resources is declared; what is said nearer to the queue wins."""

    GRID = "grid"
    DRIVER = "driver"
    SITE = "site"
    CLUSTER = "cluster"
    QUEUE = "queue"


class RejectCode(StrEnum):
    """Why a queue is not for a job: what its nodes or it have not, what a person banned, what it wants of jobs."""

    ABSENT = "absent"
    DIFFERENT = "different"
    TOO_SMALL = "too_small"
    TOO_LARGE = "too_large"
    SITE = "site"
    BANNED_SITE = "banned_site"
    EXPRESSION = "expression"
    JOB_REFUSED = "job_refused"
    NOT_SELECTABLE = "not_selectable"
    UNKNOWN = "unknown"


class EventLevel(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Closing(StrEnum):
    """What a person does with an open event."""

    FIX = "fix"
    RESUBMIT = "resubmit"


CAMPAIGN_MOVES: Mapping[CampaignState, frozenset[CampaignState]] = {
    CampaignState.IN_TREATMENT: frozenset({CampaignState.PAUSED, CampaignState.TERMINATED, CampaignState.CANCELLED}),
    CampaignState.PAUSED: frozenset({CampaignState.IN_TREATMENT, CampaignState.CANCELLED}),
    CampaignState.TERMINATED: frozenset({CampaignState.IN_TREATMENT}),  # tasks are added, or resubmitted
    CampaignState.CANCELLED: frozenset(),
}

TASK_MOVES: Mapping[TaskState, frozenset[TaskState]] = {
    TaskState.WAITING: frozenset({TaskState.ASSIGNED, TaskState.CANCELLED}),
    TaskState.ASSIGNED: frozenset({TaskState.WAITING, TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED}),
    TaskState.DONE: frozenset({TaskState.WAITING}),  # its result was doubted
    TaskState.FAILED: frozenset({TaskState.WAITING, TaskState.CANCELLED}),
    TaskState.CANCELLED: frozenset({TaskState.WAITING}),  # its user wants it after all
}

JOB_MOVES: Mapping[JobState, frozenset[JobState]] = {
    JobState.TO_LAUNCH: frozenset({JobState.LAUNCHING, JobState.ENDED}),
    JobState.LAUNCHING: frozenset({JobState.SUBMITTED, JobState.ENDED}),
    JobState.SUBMITTED: frozenset({JobState.RUNNING, JobState.ENDED}),
    JobState.RUNNING: frozenset({JobState.SUBMITTED, JobState.ENDED}),  # a requeued job waits again
    JobState.ENDED: frozenset(),
}

LIVE_JOBS = (JobState.TO_LAUNCH, JobState.LAUNCHING, JobState.SUBMITTED, JobState.RUNNING)
WAITING_JOBS = (JobState.TO_LAUNCH, JobState.LAUNCHING, JobState.SUBMITTED)
OPEN_CAMPAIGNS = (CampaignState.IN_TREATMENT, CampaignState.PAUSED)


def sources(moves: Mapping[State, frozenset[State]], target: State) -> tuple[State, ...]:
    """The states from which `target` may be reached: what a compare-and-set names."""
    return tuple(state for state, targets in moves.items() if target in targets)
