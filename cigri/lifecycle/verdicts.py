"""What an ended attempt means for its task: one pure rule, from what is known to what happens next."""

from typing import NamedTuple

from cigri.drivers import RemoteJobState
from cigri.settings.sections import JobSettings
from cigri.states import NEVER_RAN, KillReason, Outcome, TaskState

EXIT_RESUBMIT = 66
EXIT_RESUBMIT_END = 67
EXIT_CHECKPOINT = 99
SHORTEST_RUN = 60.0  # seconds after which exit 99 of an idempotent task is believed, as in OAR
BEGUN = 30
FIRST_IN_LINE = 20
RESUBMITTED_PRIORITY = 10
END_OF_LINE = 0

WITHOUT_RECORD = frozenset({74, 76, 78})
"""Exit codes of a wrapper that leaves tasks without a record: it cannot write, finds that an earlier start of its index
is over, knows not who it is. With 75 it says that an earlier start perhaps still runs."""
EXIT_NO_DIRECTORY = 77
"""A wrapper has not found the grid's own directory: it ran nothing, and knows of no other start of its index."""
SIGNALLED = 128

FAULT_OF_TASK = frozenset({Outcome.FAILURE, Outcome.WALLTIME, Outcome.OUT_OF_MEMORY})
TRIED_ELSEWHERE = FAULT_OF_TASK | {Outcome.NODE_FAILURE, Outcome.LOST}
"""After these the next attempt is better made on another cluster: it may be this one that does not suit the task."""
FREE = NEVER_RAN | {Outcome.SUPERSEDED}
ON_REQUEST = frozenset({Outcome.RESUBMIT, Outcome.RESUBMIT_END})
RECORDED = ON_REQUEST | {Outcome.SUCCESS, Outcome.DOUBTFUL, Outcome.FAILURE, Outcome.CHECKPOINTED}
"""These are told by a task's record alone: it ended by itself."""
ASKED_TO_END = frozenset({"exit", "terminated", "walltime"})


class CheckpointPolicy(NamedTuple):
    """How the tasks of a campaign save their state: when asked by `checkpoint` (`period` in seconds), or unasked.

    `was_heard`: a user has asked this very job, and the task was signalled.
    """

    has_checkpoint: bool = False
    period: int | None = None
    is_idempotent: bool = False
    was_heard: bool = False

    def continues(self, seconds: float | None) -> bool:
        """Exit 99 after so many seconds means: continue me."""
        return self.has_checkpoint or (self.is_idempotent and seconds is not None and seconds > SHORTEST_RUN)

    def has_saved(self, outcome: Outcome, seconds: float | None) -> bool:
        """The task has stopped at a checkpoint, or was signalled before it died of something else."""
        if outcome is Outcome.CHECKPOINTED:
            return True
        was_signalled = (
            self.was_heard
            or outcome is Outcome.WALLTIME
            or (self.period is not None and seconds is not None and seconds >= self.period)
        )
        return self.has_checkpoint and outcome not in NEVER_RAN and was_signalled


class AttemptCounts(NamedTuple):
    """How often a task was tried before, by whose fault, and how often it may fail by its own (`retries`)."""

    failures: int
    deaths: int
    resubmissions: int
    retries: int
    checkpoints: int = 0


class TaskVerdict(NamedTuple):
    """Where a task goes; the increments are added to its counters."""

    state: TaskState
    priority: int
    failures: int = 0
    deaths: int = 0
    resubmissions: int = 0
    checkpoints: int = 0


STAYS = TaskVerdict(TaskState.ASSIGNED, RESUBMITTED_PRIORITY)
"""Another attempt at the task lives, or has won."""


def outcome_of_record(exit_code: int, cause: str, kill: KillReason | None, *, continues: bool = False) -> Outcome:
    """From the wrapper's own record; `cause` is its word for how the task ended, `continues` what exit 99 means."""
    if continues and exit_code == EXIT_CHECKPOINT and cause in ASKED_TO_END:
        return Outcome.KILLED if kill is KillReason.USER else Outcome.CHECKPOINTED
    if cause == "terminated":
        return outcome_of_kill(kill) if kill else Outcome.PREEMPTED
    if cause == "walltime":
        return Outcome.WALLTIME
    if cause == "inputs":
        return Outcome.LOST
    if cause == "exit" and exit_code == EXIT_RESUBMIT:
        return Outcome.RESUBMIT
    if cause == "exit" and exit_code == EXIT_RESUBMIT_END:
        return Outcome.RESUBMIT_END
    return Outcome.SUCCESS if cause == "exit" and exit_code == 0 else Outcome.FAILURE


def is_proof(state: RemoteJobState, exit_code: int | None) -> bool:
    """Whether the batch system's word is enough to know that a job is over that has left no record.

    A wrapper that ends by itself has seen its records in place before, so that an end of the job's own without them is
    that of somebody else: of an earlier job with its id, of a second start.
    """
    if state is RemoteJobState.FAILED:
        return exit_code is None or exit_code in WITHOUT_RECORD or exit_code >= SIGNALLED
    return state.is_final and state is not RemoteJobState.SUCCEEDED


def outcome_of_state(state: RemoteJobState, kill: KillReason | None, *, has_begun: bool = True) -> Outcome:
    """From the batch system's history, when the wrapper left no record; it is never a success.

    A batch system may believe that a job runs which it has not begun (`has_begun`): its limits say nothing of the task.
    """
    match state:
        case _ if kill is KillReason.NOT_STARTED:
            return outcome_of_kill(kill, has_begun=has_begun)
        case RemoteJobState.TIMEOUT | RemoteJobState.OUT_OF_MEMORY if not has_begun:
            return Outcome.LOST
        case RemoteJobState.TIMEOUT:
            return Outcome.WALLTIME
        case RemoteJobState.OUT_OF_MEMORY:
            return Outcome.OUT_OF_MEMORY
        case RemoteJobState.NODE_FAILED:
            return Outcome.NODE_FAILURE
        case _ if kill is not None:
            return outcome_of_kill(kill, has_begun=has_begun)
        case RemoteJobState.PREEMPTED | RemoteJobState.KILLED:
            return Outcome.PREEMPTED
        case _:
            return Outcome.LOST


def decide_verdict(outcome: Outcome, past: AttemptCounts, limits: JobSettings) -> TaskVerdict:
    """Success is done; its own faults are retried as the campaign allows; the grid's faults are free, bounded."""
    if outcome is Outcome.SUCCESS:
        return TaskVerdict(TaskState.DONE, RESUBMITTED_PRIORITY)
    if outcome is Outcome.KILLED:
        return TaskVerdict(TaskState.CANCELLED, RESUBMITTED_PRIORITY)
    if outcome is Outcome.CHECKPOINTED:
        state = TaskState.WAITING if past.checkpoints < limits.checkpoints else TaskState.FAILED
        return TaskVerdict(state, BEGUN, checkpoints=1)
    if outcome in ON_REQUEST:
        priority = FIRST_IN_LINE if outcome is Outcome.RESUBMIT else END_OF_LINE
        state = TaskState.WAITING if past.resubmissions < limits.resubmissions else TaskState.FAILED
        return TaskVerdict(state, priority, resubmissions=1)
    if outcome in FAULT_OF_TASK:
        state = TaskState.WAITING if past.failures < past.retries else TaskState.FAILED
        return TaskVerdict(state, RESUBMITTED_PRIORITY, failures=1)
    if outcome in FREE:
        return TaskVerdict(TaskState.WAITING, FIRST_IN_LINE)
    state = TaskState.WAITING if past.deaths < limits.deaths else TaskState.FAILED
    return TaskVerdict(state, FIRST_IN_LINE, deaths=1)


def outcome_of_kill(kill: KillReason, *, has_begun: bool = True) -> Outcome:
    """What the death of a job means for its tasks when it is we who wished it."""
    match kill:
        case KillReason.USER:
            return Outcome.KILLED
        case KillReason.WALLTIME | KillReason.NOT_STARTED if not has_begun:
            return Outcome.WITHDRAWN
        case KillReason.WALLTIME:
            return Outcome.WALLTIME
        case KillReason.DRAIN | KillReason.NOT_STARTED:
            return Outcome.PREEMPTED
        case KillReason.FLOOD | KillReason.WAITING_TOO_LONG | KillReason.HOURS | KillReason.FAIRNESS:
            return Outcome.WITHDRAWN
        case KillReason.CANNOT_START:
            return Outcome.WITHDRAWN
        case KillReason.SUPERSEDED | KillReason.LISTED_AGAIN:
            return Outcome.SUPERSEDED
