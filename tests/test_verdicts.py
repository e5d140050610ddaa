"""What an end means for the task: a table of cases."""

import pytest

from cigri.drivers import RemoteJobState
from cigri.lifecycle.verdicts import (
    AttemptCounts,
    CheckpointPolicy,
    decide_verdict,
    is_proof,
    outcome_of_record,
    outcome_of_state,
)
from cigri.settings.sections import JobSettings
from cigri.states import KillReason, Outcome, TaskState

LIMITS = JobSettings(deaths=2, resubmissions=3, checkpoints=4)
FRESH = AttemptCounts(0, 0, 0, 0)


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
    ("state", "kill", "outcome"),
    [
        (RemoteJobState.TIMEOUT, None, Outcome.WALLTIME),
        (RemoteJobState.OUT_OF_MEMORY, None, Outcome.OUT_OF_MEMORY),
        (RemoteJobState.NODE_FAILED, KillReason.USER, Outcome.NODE_FAILURE),
        (RemoteJobState.PREEMPTED, None, Outcome.PREEMPTED),
        (RemoteJobState.KILLED, None, Outcome.PREEMPTED),
        (RemoteJobState.KILLED, KillReason.USER, Outcome.KILLED),
        (RemoteJobState.KILLED, KillReason.WAITING_TOO_LONG, Outcome.WITHDRAWN),
        (RemoteJobState.FAILED, None, Outcome.LOST),
        (RemoteJobState.FAILED, KillReason.USER, Outcome.KILLED),
        (RemoteJobState.UNKNOWN, None, Outcome.LOST),
    ],
)
def test_without_a_record_the_history_decides(state: RemoteJobState, kill: KillReason | None, outcome: Outcome) -> None:
    assert outcome_of_state(state, kill) is outcome


@pytest.mark.parametrize("kill", [None, *KillReason])
@pytest.mark.parametrize("state", list(RemoteJobState))
def test_without_a_record_nothing_is_ever_a_success(state: RemoteJobState, kill: KillReason | None) -> None:
    verdict = decide_verdict(outcome_of_state(state, kill), FRESH, LIMITS)
    assert verdict.state is not TaskState.DONE


@pytest.mark.parametrize(
    ("state", "exit_code", "is_over"),
    [
        (RemoteJobState.SUCCEEDED, 0, False),  # the wrapper ends well only with its record in place
        (RemoteJobState.SUCCEEDED, None, False),
        (RemoteJobState.FAILED, 0, False),
        (RemoteJobState.FAILED, 3, False),
        (RemoteJobState.FAILED, 66, False),
        (RemoteJobState.FAILED, 75, False),  # an earlier start of the index perhaps runs
        (RemoteJobState.FAILED, 74, True),  # it could not write
        (RemoteJobState.FAILED, 76, True),  # an earlier start is over
        (RemoteJobState.FAILED, 78, True),
        (RemoteJobState.FAILED, 137, True),  # somebody killed the wrapper
        (RemoteJobState.FAILED, None, True),
        (RemoteJobState.KILLED, None, True),
        (RemoteJobState.PREEMPTED, None, True),
        (RemoteJobState.TIMEOUT, None, True),
        (RemoteJobState.NODE_FAILED, None, True),
        (RemoteJobState.OUT_OF_MEMORY, None, True),
        (RemoteJobState.UNKNOWN, None, False),
        (RemoteJobState.RUNNING, None, False),
    ],
)
def test_when_the_batch_systems_word_is_enough(state: RemoteJobState, exit_code: int | None, is_over: bool) -> None:
    assert is_proof(state, exit_code) is is_over


@pytest.mark.parametrize(
    ("outcome", "past", "state", "priority"),
    [
        (Outcome.SUCCESS, FRESH, TaskState.DONE, 10),
        (Outcome.KILLED, FRESH, TaskState.CANCELLED, 10),
        (Outcome.FAILURE, FRESH, TaskState.FAILED, 10),
        (Outcome.FAILURE, AttemptCounts(0, 0, 0, 1), TaskState.WAITING, 10),
        (Outcome.FAILURE, AttemptCounts(1, 0, 0, 1), TaskState.FAILED, 10),
        (Outcome.WALLTIME, FRESH, TaskState.FAILED, 10),
        (Outcome.OUT_OF_MEMORY, FRESH, TaskState.FAILED, 10),
        (Outcome.PREEMPTED, FRESH, TaskState.WAITING, 20),
        (Outcome.PREEMPTED, AttemptCounts(0, 2, 0, 9), TaskState.FAILED, 20),
        (Outcome.LOST, AttemptCounts(0, 1, 0, 0), TaskState.WAITING, 20),
        (Outcome.WITHDRAWN, AttemptCounts(0, 99, 0, 0), TaskState.WAITING, 20),
        (Outcome.REFUSED, AttemptCounts(0, 99, 0, 0), TaskState.WAITING, 20),
        (Outcome.RESUBMIT, FRESH, TaskState.WAITING, 20),
        (Outcome.RESUBMIT_END, FRESH, TaskState.WAITING, 0),
        (Outcome.RESUBMIT, AttemptCounts(0, 0, 3, 0), TaskState.FAILED, 20),
        (Outcome.CHECKPOINTED, AttemptCounts(9, 9, 9, 0, 3), TaskState.WAITING, 30),
        (Outcome.CHECKPOINTED, AttemptCounts(0, 0, 0, 0, 4), TaskState.FAILED, 30),
    ],
)
def test_the_task_goes_where_the_rule_says(
    outcome: Outcome, past: AttemptCounts, state: TaskState, priority: int
) -> None:
    verdict = decide_verdict(outcome, past, LIMITS)
    assert (verdict.state, verdict.priority) == (state, priority)


@pytest.mark.parametrize(
    ("cause", "kill", "outcome"),
    [
        ("exit", None, Outcome.CHECKPOINTED),
        ("walltime", None, Outcome.CHECKPOINTED),
        ("terminated", None, Outcome.CHECKPOINTED),
        ("terminated", KillReason.WALLTIME, Outcome.CHECKPOINTED),
        ("terminated", KillReason.USER, Outcome.KILLED),
        ("exit", KillReason.USER, Outcome.KILLED),
        ("directory", None, Outcome.FAILURE),
    ],
)
def test_exit_99_of_a_task_that_saves_its_state_means_continue_me(
    cause: str, kill: KillReason | None, outcome: Outcome
) -> None:
    assert outcome_of_record(99, cause, kill, continues=True) is outcome
    assert outcome_of_record(99, cause, kill) is not Outcome.CHECKPOINTED


@pytest.mark.parametrize(
    ("saving", "seconds", "continues"),
    [
        (CheckpointPolicy(), 3600.0, False),
        (CheckpointPolicy(has_checkpoint=True), 0.1, True),
        (CheckpointPolicy(has_checkpoint=True), None, True),
        (CheckpointPolicy(is_idempotent=True), 60.0, False),
        (CheckpointPolicy(is_idempotent=True), 60.1, True),
        (CheckpointPolicy(is_idempotent=True), None, False),
    ],
)
def test_an_idempotent_task_has_to_run_for_a_minute_before_exit_99_is_believed(
    saving: CheckpointPolicy, seconds: float | None, continues: bool
) -> None:
    assert saving.continues(seconds) is continues


@pytest.mark.parametrize(
    ("saving", "outcome", "seconds", "has_saved"),
    [
        (CheckpointPolicy(is_idempotent=True), Outcome.CHECKPOINTED, 90.0, True),
        (CheckpointPolicy(is_idempotent=True), Outcome.WALLTIME, 90.0, False),
        (CheckpointPolicy(has_checkpoint=True), Outcome.WALLTIME, 90.0, True),
        (CheckpointPolicy(has_checkpoint=True), Outcome.PREEMPTED, 90.0, False),
        (CheckpointPolicy(has_checkpoint=True, period=60), Outcome.PREEMPTED, 90.0, True),
        (CheckpointPolicy(has_checkpoint=True, period=60), Outcome.PREEMPTED, 59.0, False),
        (CheckpointPolicy(has_checkpoint=True, period=60), Outcome.LOST, None, False),
        (CheckpointPolicy(has_checkpoint=True, was_heard=True), Outcome.NODE_FAILURE, None, True),
        (CheckpointPolicy(has_checkpoint=True, was_heard=True), Outcome.WITHDRAWN, None, False),
    ],
)
def test_a_task_that_was_signalled_before_it_died_may_have_saved(
    saving: CheckpointPolicy, outcome: Outcome, seconds: float | None, has_saved: bool
) -> None:
    assert saving.has_saved(outcome, seconds) is has_saved


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_verdict_that_counts_at_most_one_thing(outcome: Outcome) -> None:
    verdict = decide_verdict(outcome, FRESH, LIMITS)
    assert verdict.failures + verdict.deaths + verdict.resubmissions + verdict.checkpoints <= 1
