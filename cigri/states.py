"""The life of each thing: its states and the moves allowed between them; the database has the same words as enums."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=StrEnum | None)


class CampaignType(StrEnum):
    DEFAULT = "default"
    TEST = "test"


class CampaignState(StrEnum):
    IN_TREATMENT = "in_treatment"
    TERMINATED = "terminated"
    CANCELLED = "cancelled"


class TaskState(StrEnum):
    """BLOCKED: its campaign waits for others. WAITING: to be done. ASSIGNED: a live job carries it.

    The others are final until a person re-opens the task.
    """

    BLOCKED = "blocked"
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

    LISTED_AGAIN: the job itself is over, and its cluster has it back in its queue. NOT_STARTED: its cluster took it for
    running until its walltime was over, and it never started. CANNOT_START: it waits for what does not come by itself.
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
    NOT_STARTED = "not_started"
    CANNOT_START = "cannot_start"


class PrincipalKind(StrEnum):
    """Whom a target is about, or a quota of all of somebody's jobs."""

    USER = "user"
    PROJECT = "project"


class AfterWhen(StrEnum):
    """How what a campaign waits for has to end. SUCCESS: with no more failed tasks than tolerated; FAILURE: with more.

    END: however it ends.
    """

    SUCCESS = "success"
    END = "end"
    FAILURE = "failure"


class CeilingKind(StrEnum):
    """What keeps a campaign from more jobs by somebody's word. TESTS: those that a user may have on a cluster.

    QUEUE_LIMIT: what a batch system takes of an account at a time.
    """

    LIMIT = "limit"
    QUOTA_CORES = "quota_cores"
    QUOTA_JOBS = "quota_jobs"
    QUOTA_CORE_HOURS = "quota_core_hours"
    MAX_JOBS = "max_jobs"
    TESTS = "tests"
    QUEUE_LIMIT = "queue_limit"


class PendingReasonCode(StrEnum):
    """What keeps a campaign from more jobs on a cluster in a cycle."""

    WAITING_LIMIT = "waiting_limit"
    MAX_JOBS = "max_jobs"
    TRIAL = "trial"
    SCOUTS = "scouts"
    LIMIT = "limit"
    QUOTA_CORES = "quota_cores"
    QUOTA_JOBS = "quota_jobs"
    QUOTA_CORE_HOURS = "quota_core_hours"
    FULL = "full"
    ORDER = "order"
    RESERVED = "reserved"
    FORECAST = "forecast"
    STRESS = "stress"
    MAX_QUEUED = "max_queued"
    SHARE = "share"
    TESTS = "tests"
    QUEUE_LIMIT = "queue_limit"


class PropertyLevel(StrEnum):
    """Where a property of resources is declared; what is said nearer to the queue wins."""

    GRID = "grid"
    DRIVER = "driver"
    SITE = "site"
    CLUSTER = "cluster"
    QUEUE = "queue"


class QueueRejectCode(StrEnum):
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


class NewsTag(StrEnum):
    """What people are told of a campaign, in OAR's words."""

    RUNNING = "RUNNING"
    END = "END"
    ERROR = "ERROR"
    INFO = "INFO"
    SUSPENDED = "SUSPENDED"
    RESUMING = "RESUMING"


class Severity(StrEnum):
    """How much news matter, the least first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Channel(StrEnum):
    """The way on which news reach a person."""

    MAIL = "mail"
    EXEC = "exec"
    WEBHOOK = "webhook"


class MessageState(StrEnum):
    """WAITING: to be sent, or sent again."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"


class EventClosing(StrEnum):
    """What a person does with an open event."""

    FIX = "fix"
    RESUBMIT = "resubmit"


@dataclass(frozen=True)
class StateMachine(Generic[State]):
    """The states in which a thing begins, and its moves from one to another; of each, what makes it.

    A state is written through cigri/tables/transitions.py alone, which names the sources found here.
    docs/reference/states.md shows it.
    """

    begins: Mapping[State, str]
    moves: Mapping[tuple[State, State], str]

    def sources(self, target: State) -> tuple[State, ...]:
        """The states from which `target` may be reached."""
        return tuple(source for source, reached in self.moves if reached == target)

    def targets(self, source: State) -> tuple[State, ...]:
        """The states that may be reached from `source`."""
        return tuple(reached for start, reached in self.moves if start == source)

    def sources_of_all(self, targets: Collection[State]) -> tuple[State, ...]:
        """States in which a thing may stay, or from which it may be moved, whichever of `targets` it is to be in."""
        states = dict.fromkeys([*self.begins, *(state for move in self.moves for state in move)])
        return tuple(state for state in states if set(targets) <= {state, *self.targets(state)})


CAMPAIGN_LIFE = StateMachine(
    begins={CampaignState.IN_TREATMENT: "submitted"},
    moves={
        (CampaignState.IN_TREATMENT, CampaignState.TERMINATED): "nothing is left to do or to look at",
        (CampaignState.TERMINATED, CampaignState.IN_TREATMENT): "tasks are added, or done again",
        (CampaignState.IN_TREATMENT, CampaignState.CANCELLED): "its user cancels it",
    },
)

TASK_LIFE = StateMachine(
    begins={TaskState.WAITING: "submitted", TaskState.BLOCKED: "submitted, and its campaign waits for others"},
    moves={
        (TaskState.BLOCKED, TaskState.WAITING): "what it waits for has ended as it is to, or its user waits no longer",
        (TaskState.BLOCKED, TaskState.CANCELLED): "its user cancels the campaign",
        (TaskState.WAITING, TaskState.ASSIGNED): "a campaign scheduler gives it to a job",
        (TaskState.ASSIGNED, TaskState.WAITING): "the attempt is to be made again",
        (TaskState.ASSIGNED, TaskState.DONE): "an attempt succeeds",
        (TaskState.ASSIGNED, TaskState.FAILED): "it has failed too often",
        (TaskState.ASSIGNED, TaskState.CANCELLED): "its user kills its job, or has cancelled the campaign",
        (TaskState.WAITING, TaskState.CANCELLED): "its user cancels the campaign",
        (TaskState.FAILED, TaskState.CANCELLED): "its user cancels the campaign",
        (TaskState.FAILED, TaskState.WAITING): "its user has it done again",
        (TaskState.CANCELLED, TaskState.WAITING): "its user has it done again",
        (TaskState.DONE, TaskState.WAITING): "its result was doubted, and its user has it done again",
    },
)

ATTEMPT_LIFE = StateMachine[Outcome | None](
    begins={None: "its task is given to a job"},
    moves={
        (None, Outcome.SUCCESS): "exit code 0",
        (Outcome.SUCCESS, Outcome.DOUBTFUL): "too short to be true, as others there",
        (Outcome.DOUBTFUL, Outcome.SUCCESS): "its user says that it is right",
        (None, Outcome.RESUBMIT): "exit code 66",
        (None, Outcome.RESUBMIT_END): "exit code 67",
        (None, Outcome.CHECKPOINTED): "exit code 99, to be continued",
        (None, Outcome.FAILURE): "any other exit code",
        (None, Outcome.WALLTIME): "out of time",
        (None, Outcome.OUT_OF_MEMORY): "out of memory",
        (None, Outcome.PREEMPTED): "its job gave way to others",
        (None, Outcome.NODE_FAILURE): "its node died",
        (None, Outcome.LOST): "nobody knows what became of its job",
        (None, Outcome.KILLED): "its user killed it",
        (None, Outcome.WITHDRAWN): "we took its job back before it ran",
        (None, Outcome.REFUSED): "the batch system did not take its job",
        (None, Outcome.SUPERSEDED): "another attempt at the task has won",
    },
)

JOB_LIFE = StateMachine(
    begins={
        JobState.TO_LAUNCH: "chosen by a campaign scheduler",
        JobState.SUBMITTED: "adopted, as an older life of the database had sent it",
    },
    moves={
        (JobState.TO_LAUNCH, JobState.LAUNCHING): "its batch is committed",
        (JobState.LAUNCHING, JobState.SUBMITTED): "the cluster has taken the batch",
        (JobState.SUBMITTED, JobState.RUNNING): "seen to run",
        (JobState.RUNNING, JobState.SUBMITTED): "requeued by its cluster",
        (JobState.TO_LAUNCH, JobState.ENDED): "killed or withdrawn",
        (JobState.LAUNCHING, JobState.ENDED): "its batch is void, or was recorded as over",
        (JobState.SUBMITTED, JobState.ENDED): "over, withdrawn or lost",
        (JobState.RUNNING, JobState.ENDED): "over or lost",
    },
)

BATCH_LIFE = StateMachine(
    begins={
        BatchState.LAUNCHING: "committed, with its tag",
        BatchState.SUBMITTED: "adopted, as an older life of the database had sent it",
    },
    moves={
        (BatchState.LAUNCHING, BatchState.SUBMITTED): "the cluster has taken it, or lists it by its tag",
        (BatchState.LAUNCHING, BatchState.VOID): "it was never submitted, and never will be",
    },
)

STEP_LIFE = StateMachine(
    begins={
        StepState.NONE: "the description has none",
        StepState.WAITING: "the description has one",
    },
    moves={
        (StepState.WAITING, StepState.RUNNING): "its job is made",
        (StepState.WAITING, StepState.DONE): "an epilogue where no job ever was",
        (StepState.RUNNING, StepState.DONE): "its job succeeds",
        (StepState.RUNNING, StepState.FAILED): "its job fails, or its user kills it",
        (StepState.RUNNING, StepState.WAITING): "its job died by the grid's fault",
        (StepState.FAILED, StepState.WAITING): "its user has it done again",
        (StepState.DONE, StepState.WAITING): "the campaign has something to do again",
    },
)

MESSAGE_LIFE = StateMachine(
    begins={MessageState.WAITING: "there is news for a subscription"},
    moves={
        (MessageState.WAITING, MessageState.SENT): "its receiver has taken it",
        (MessageState.WAITING, MessageState.FAILED): "its receiver has not taken it, too often",
    },
)

LEFT_TO_DO = (TaskState.BLOCKED, TaskState.WAITING, TaskState.ASSIGNED)
LIVE_JOBS = (JobState.TO_LAUNCH, JobState.LAUNCHING, JobState.SUBMITTED, JobState.RUNNING)
WAITING_JOBS = (JobState.TO_LAUNCH, JobState.LAUNCHING, JobState.SUBMITTED)
OPEN_CAMPAIGNS = (CampaignState.IN_TREATMENT,)
NEVER_RAN = frozenset({Outcome.WITHDRAWN, Outcome.REFUSED})
