"""What an end means for the task: a table of cases."""

import pytest

from cigri.drivers import RemoteState
from cigri.settings import JobSettings
from cigri.states import KillReason, Outcome, TaskState
from cigri.verdicts import TaskPast, judge, outcome_of_record, outcome_of_state

LIMITS = JobSettings(deaths=2, resubmissions=3)
FRESH = TaskPast(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("exit_code", "cause", "kill", "outcome"),
    [
        (0, "exit", None, Outcome.SUCCESS),
        (1, "exit", None, Outcome.FAILURE),
        (66, "exit", None, Outcome.RESUBMIT),
        (67, "exit", None, Outcome.RESUBMIT_END),
        (127, "exit", None, Outcome.FAILURE),
        (139, "signal", None, Outcome.FAILURE),
        (72, "directory", None, Outcome.FAILURE),
        (0, "walltime", None, Outcome.WALLTIME),
        (143, "terminated", None, Outcome.PREEMPTED),
        (143, "terminated", KillReason.USER, Outcome.KILLED),
        (143, "terminated", KillReason.FLOOD, Outcome.WITHDRAWN),
        (143, "terminated", KillReason.WALLTIME, Outcome.WALLTIME),
        (0, "exit", KillReason.USER, Outcome.SUCCESS),  # it was faster than the kill
        (66, "terminated", None, Outcome.PREEMPTED),
    ],
)
def test_the_record_decides(exit_code: int, cause: str, kill: KillReason | None, outcome: Outcome) -> None:
    assert outcome_of_record(exit_code, cause, kill) is outcome


@pytest.mark.parametrize(
    ("state", "exit_code", "kill", "outcome"),
    [
        (RemoteState.SUCCEEDED, 0, None, Outcome.SUCCESS),
        (RemoteState.FAILED, 3, None, Outcome.FAILURE),
        (RemoteState.FAILED, 66, None, Outcome.RESUBMIT),
        (RemoteState.FAILED, 137, None, Outcome.LOST),  # somebody killed the wrapper
        (RemoteState.FAILED, 74, None, Outcome.LOST),  # it could not write
        (RemoteState.FAILED, 75, None, Outcome.LOST),  # the batch system began the job a second time
        (RemoteState.FAILED, 75, KillReason.USER, Outcome.KILLED),
        (RemoteState.FAILED, 78, None, Outcome.LOST),
        (RemoteState.FAILED, 76, None, Outcome.FAILURE),
        (RemoteState.SUCCEEDED, None, None, Outcome.LOST),  # success without proof is none
        (RemoteState.TIMEOUT, None, None, Outcome.WALLTIME),
        (RemoteState.OUT_OF_MEMORY, None, None, Outcome.OUT_OF_MEMORY),
        (RemoteState.NODE_FAILED, None, KillReason.USER, Outcome.NODE_FAILURE),
        (RemoteState.PREEMPTED, None, None, Outcome.PREEMPTED),
        (RemoteState.KILLED, None, None, Outcome.PREEMPTED),
        (RemoteState.KILLED, None, KillReason.USER, Outcome.KILLED),
        (RemoteState.KILLED, None, KillReason.WAITING_TOO_LONG, Outcome.WITHDRAWN),
        (RemoteState.UNKNOWN, None, None, Outcome.LOST),
    ],
)
def test_without_a_record_the_history_decides(
    state: RemoteState, exit_code: int | None, kill: KillReason | None, outcome: Outcome
) -> None:
    assert outcome_of_state(state, exit_code, kill) is outcome


@pytest.mark.parametrize(
    ("outcome", "past", "state", "priority"),
    [
        (Outcome.SUCCESS, FRESH, TaskState.DONE, 10),
        (Outcome.KILLED, FRESH, TaskState.CANCELLED, 10),
        (Outcome.FAILURE, FRESH, TaskState.FAILED, 10),
        (Outcome.FAILURE, TaskPast(0, 0, 0, 1), TaskState.WAITING, 10),
        (Outcome.FAILURE, TaskPast(1, 0, 0, 1), TaskState.FAILED, 10),
        (Outcome.WALLTIME, FRESH, TaskState.FAILED, 10),
        (Outcome.OUT_OF_MEMORY, FRESH, TaskState.FAILED, 10),
        (Outcome.PREEMPTED, FRESH, TaskState.WAITING, 20),
        (Outcome.PREEMPTED, TaskPast(0, 2, 0, 9), TaskState.FAILED, 20),
        (Outcome.LOST, TaskPast(0, 1, 0, 0), TaskState.WAITING, 20),
        (Outcome.WITHDRAWN, TaskPast(0, 99, 0, 0), TaskState.WAITING, 20),
        (Outcome.REFUSED, TaskPast(0, 99, 0, 0), TaskState.WAITING, 20),
        (Outcome.RESUBMIT, FRESH, TaskState.WAITING, 20),
        (Outcome.RESUBMIT_END, FRESH, TaskState.WAITING, 0),
        (Outcome.RESUBMIT, TaskPast(0, 0, 3, 0), TaskState.FAILED, 20),
    ],
)
def test_the_task_goes_where_the_rule_says(outcome: Outcome, past: TaskPast, state: TaskState, priority: int) -> None:
    verdict = judge(outcome, past, LIMITS)
    assert (verdict.state, verdict.priority) == (state, priority)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_verdict_that_counts_at_most_one_thing(outcome: Outcome) -> None:
    verdict = judge(outcome, FRESH, LIMITS)
    assert verdict.failures + verdict.deaths + verdict.resubmissions <= 1
