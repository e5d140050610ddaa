"""What a visit concludes of each job; unknown is not finished."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.flow.live_jobs import ListedJob, WatchedJob
from cigri.flow.views.live_attempts import LiveAttempt
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import JobSettings
from cigri.states import JobKind, JobState, KillReason, Outcome, TaskState
from cigri.wrapper import JournalState, TaskEndCause, TaskRecord, TaskUse
from modules.updator.account_observation import list_asked_after
from modules.updator.idle_deaths import find_idle_deaths
from modules.updator.job_conclusions import (
    ArrayElement,
    JobChanges,
    JournalSummary,
    VisitEnds,
    VisitObservation,
    decide_ends,
    detect_changes,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = ClusterConfig(driver="local", record_grace=10, lost_after=120)
LIMITS = JobSettings()
PLACE = ArrayElement("tag", 1)


def a_job(
    *,
    state: JobState = JobState.SUBMITTED,
    missing: float | None = None,
    kill: KillReason | None = None,
    kind: JobKind = JobKind.TASKS,
    left: float = 3600,
) -> WatchedJob:
    """`left`: seconds of its walltime, if it was started at all."""
    since = None if missing is None else NOW - timedelta(seconds=missing)
    until = NOW + timedelta(seconds=left)
    return WatchedJob(7, 3, kind, state, 1, 5, "tag", 1, "12_1", "alice", since, kill, runs_until=until)


def remote(state: RemoteJobState, exit_code: int | None = None) -> RemoteJob:
    return RemoteJob("tag", 1, "12_1", state, exit_code)


def a_record(position: int = 1, exit_code: int = 0, cause: TaskEndCause = TaskEndCause.EXIT) -> TaskRecord:
    return TaskRecord(7, 100 + position, 1, position, exit_code, cause, 1_000_000, 2_500, "n1", "12_1")


def attempts(number: int = 1) -> dict[int, list[LiveAttempt]]:
    places = range(1, number + 1)
    return {7: [LiveAttempt(7, place, 100 + place, 1, 0, 0, 0, 0, is_shared=number > 1) for place in places]}


def look(
    job: WatchedJob,
    *,
    listed: RemoteJob | None = None,
    answered: bool = True,
    past: RemoteJob | None = None,
    records: tuple[TaskRecord, ...] = (),
    tasks: int = 1,
    journal: JournalSummary | None = None,
) -> tuple[JobChanges, VisitEnds]:
    sight = VisitObservation(
        ({PLACE: listed} if listed else {}) if answered else None,
        {PLACE: past} if past else {},
        {7: {record.position: record for record in records}} if records else {},
        {7: journal} if journal else {},
    )
    findings = detect_changes([job], {7: tasks} if records else {}, sight, NOW, CONFIG)
    carried = attempts(tasks) if job.kind is JobKind.TASKS else {}
    return findings, decide_ends(findings, carried, sight.records, LIMITS, {7: journal} if journal else {})


@pytest.mark.parametrize("kind", JobKind)
def test_the_seconds_of_the_batch_system_are_told_where_it_has_them(kind: JobKind) -> None:
    past = replace(remote(RemoteJobState.SUCCEEDED, 0), started=1000.0, ended=1042.0)
    _, ends = look(a_job(missing=121, kind=kind), past=past)
    assert [job.lasted for job in ends.jobs] == [42.0]


def test_a_job_whose_tasks_have_records_is_counted_by_them() -> None:
    _, ends = look(a_job(), records=(a_record(),))
    assert [job.lasted for job in ends.jobs] == [None]


def test_a_step_has_the_seconds_of_its_record() -> None:
    _, ends = look(a_job(kind=JobKind.PROLOGUE), records=(a_record(),))
    assert [job.lasted for job in ends.jobs] == [2.5]


def outcome(ends: VisitEnds) -> Outcome:
    assert len(ends.jobs) == 1
    return ends.jobs[0].outcome


ABSENT, STARTED, NO_BATCH = (
    JournalSummary(state=state) for state in (JournalState.ABSENT, JournalState.STARTED, JournalState.NO_BATCH)
)


def a_running_job(kill: KillReason | None = None, *, is_undead: bool = False) -> WatchedJob:
    """It has been listed for so long that it should have written that it started."""
    return a_job(state=JobState.RUNNING, kill=kill)._replace(is_start_due=True, is_undead=is_undead)


@pytest.mark.parametrize(
    ("journal", "begun", "unstarted"), [(ABSENT, [], [7]), (STARTED, [7], []), (NO_BATCH, [], []), (None, [], [])]
)
def test_a_running_job_whose_start_is_due_has_begun_or_not_if_its_files_are_there(
    journal: JournalSummary | None, begun: list[int], unstarted: list[int]
) -> None:
    findings, ends = look(a_running_job(), listed=remote(RemoteJobState.RUNNING), journal=journal)
    assert [job.job_id for job in findings.begun] == begun
    assert [job.job_id for job in findings.unstarted] == unstarted
    assert ends.jobs == []


@pytest.mark.parametrize("state", [RemoteJobState.WAITING, RemoteJobState.UNKNOWN, RemoteJobState.HELD])
def test_a_job_that_is_no_longer_said_to_run_is_not_told_of(state: RemoteJobState) -> None:
    assert look(a_running_job(), listed=remote(state), journal=ABSENT)[0].unstarted == []


@pytest.mark.parametrize(
    ("kill", "expected"),
    [
        (KillReason.NOT_STARTED, Outcome.WITHDRAWN),
        (KillReason.WALLTIME, Outcome.WITHDRAWN),
        (KillReason.USER, Outcome.KILLED),
    ],
)
def test_a_job_that_no_kill_ends_and_that_has_not_started_is_over_though_it_is_listed(
    kill: KillReason, expected: Outcome
) -> None:
    undead = a_running_job(kill, is_undead=True)
    _, ends = look(undead, listed=remote(RemoteJobState.RUNNING), journal=ABSENT)
    assert outcome(ends) is expected
    assert look(undead, listed=remote(RemoteJobState.RUNNING), journal=STARTED)[1].jobs == []
    assert look(undead, listed=remote(RemoteJobState.RUNNING))[1].jobs == []
    assert look(undead, listed=remote(RemoteJobState.WAITING), journal=ABSENT)[1].jobs == []


@pytest.mark.parametrize("past", [None, RemoteJobState.KILLED, RemoteJobState.NODE_FAILED, RemoteJobState.TIMEOUT])
@pytest.mark.parametrize(("journal", "expected"), [(ABSENT, Outcome.WITHDRAWN), (STARTED, Outcome.PREEMPTED)])
def test_what_dies_as_it_has_not_started_costs_nothing_unless_it_started_meanwhile(
    past: RemoteJobState | None, journal: JournalSummary, expected: Outcome
) -> None:
    """Whatever the batch system says of its end."""
    killed = a_job(missing=11, kill=KillReason.NOT_STARTED)._replace(was_killed=True)
    assert outcome(look(killed, past=remote(past) if past else None, journal=journal)[1]) is expected


def test_the_other_tasks_of_a_job_that_has_not_started_cost_nothing_either() -> None:
    killed = a_job(missing=11, kill=KillReason.NOT_STARTED)._replace(was_killed=True)
    findings, _ = look(killed, journal=ABSENT)
    ends = decide_ends(findings, attempts(3), {}, LIMITS, {7: ABSENT})
    assert [attempt.outcome for attempt in ends.attempts] == [Outcome.WITHDRAWN] * 3


def test_a_record_ends_a_job_even_when_it_is_still_listed() -> None:
    _, ends = look(a_job(), listed=remote(RemoteJobState.RUNNING), records=(a_record(),))
    assert outcome(ends) is Outcome.SUCCESS
    assert ends.attempts[0].verdict.state is TaskState.DONE
    assert (ends.attempts[0].started, ends.attempts[0].seconds) == (1000.0, 2.5)


def test_a_record_counts_even_when_the_queue_does_not_answer() -> None:
    _, ends = look(a_job(), answered=False, records=(a_record(exit_code=3),))
    assert outcome(ends) is Outcome.FAILURE


@pytest.mark.parametrize(
    ("state", "moved"),
    [
        (RemoteJobState.RUNNING, JobState.RUNNING),
        (RemoteJobState.SUSPENDED, JobState.RUNNING),
        (RemoteJobState.WAITING, None),
        (RemoteJobState.UNKNOWN, None),
    ],
)
def test_a_listed_job_moves_only_when_its_state_does(state: RemoteJobState, moved: JobState | None) -> None:
    findings, _ = look(a_job(), listed=remote(state))
    assert [seen[1] for seen in findings.seen] == ([moved] if moved else [])


@pytest.mark.parametrize("is_halted", [False, True])
@pytest.mark.parametrize(
    ("state", "now", "halted_now"),
    [
        (JobState.SUBMITTED, RemoteJobState.WAITING, False),
        (JobState.SUBMITTED, RemoteJobState.HELD, True),
        (JobState.RUNNING, RemoteJobState.RUNNING, False),
        (JobState.RUNNING, RemoteJobState.SUSPENDED, True),
    ],
)
def test_a_job_that_stands_still_or_goes_on_is_noted(
    state: JobState, is_halted: bool, now: RemoteJobState, halted_now: bool
) -> None:
    findings, _ = look(a_job(state=state)._replace(is_halted=is_halted), listed=remote(now))
    expected = ListedJob(7, state, "12_1", "", halted_now)
    assert findings.seen == ([] if halted_now is is_halted else [expected])


def test_an_unknown_word_lets_no_job_go_on() -> None:
    findings, _ = look(a_job()._replace(is_halted=True), listed=remote(RemoteJobState.UNKNOWN))
    assert not findings.seen


def test_an_unknown_word_never_moves_a_running_job() -> None:
    findings, ends = look(a_job(state=JobState.RUNNING), listed=remote(RemoteJobState.UNKNOWN))
    assert not findings.seen
    assert not ends.jobs


def test_a_requeued_job_waits_again() -> None:
    findings, _ = look(a_job(state=JobState.RUNNING), listed=remote(RemoteJobState.WAITING))
    assert findings.seen[0][1] is JobState.SUBMITTED


def test_a_job_that_left_the_list_is_missing_first() -> None:
    findings, ends = look(a_job())
    assert findings.missing == [7]
    assert not ends.jobs


def test_no_answer_is_not_an_empty_list() -> None:
    findings, ends = look(a_job(), answered=False)
    assert not findings.missing
    assert not ends.jobs


def test_even_a_long_missing_job_is_not_lost_while_the_queue_does_not_answer() -> None:
    _, ends = look(a_job(missing=9999), answered=False)
    assert not ends.jobs


@pytest.mark.parametrize(("missing", "ended"), [(5.0, False), (10.0, True)])
def test_history_is_believed_only_after_the_grace_for_the_record(missing: float, ended: bool) -> None:
    _, ends = look(a_job(missing=missing), past=remote(RemoteJobState.KILLED))
    assert bool(ends.jobs) is ended


@pytest.mark.parametrize("past", [remote(RemoteJobState.SUCCEEDED, 0), remote(RemoteJobState.FAILED, 3)])
@pytest.mark.parametrize(("missing", "lost"), [(119.0, False), (120.0, True)])
def test_a_job_that_never_started_is_lost_whatever_the_history_says_of_its_end(
    past: RemoteJob, missing: float, lost: bool
) -> None:
    """slurmdbd says COMPLETED 0:0 of an element with the id of an earlier one, which ran."""
    _, ends = look(a_job(missing=missing), past=past)
    assert [job.outcome for job in ends.jobs] == ([Outcome.LOST] if lost else [])


STARTED = JournalSummary(state=JournalState.STARTED)


@pytest.mark.parametrize(
    "past",
    [
        None,
        remote(RemoteJobState.UNKNOWN),
        remote(RemoteJobState.SUCCEEDED, 0),
        remote(RemoteJobState.FAILED, 3),
        replace(remote(RemoteJobState.FAILED, 75), reason="NonZeroExitCode", restarts=1),
    ],
)
@pytest.mark.parametrize(("left", "lost"), [(3600.0, False), (-119.0, False), (-120.0, True)])
def test_a_job_that_started_perhaps_runs_until_its_walltime_is_over(
    past: RemoteJob | None, left: float, lost: bool
) -> None:
    findings, ends = look(a_job(missing=9999, left=left), past=past, journal=STARTED)
    assert [job.outcome for job in ends.jobs] == ([Outcome.LOST] if lost else [])
    assert [job.job_id for job in findings.unaccounted] == ([] if lost else [7])


@pytest.mark.parametrize(
    "past",
    [remote(RemoteJobState.KILLED), remote(RemoteJobState.NODE_FAILED), remote(RemoteJobState.FAILED, 76)],
    ids=["killed", "node failed", "proven by its second start"],
)
def test_a_job_that_started_has_ended_once_there_is_proof(past: RemoteJob) -> None:
    findings, ends = look(a_job(missing=11), past=past, journal=STARTED)
    assert len(ends.jobs) == 1
    assert not findings.unaccounted


@pytest.mark.parametrize(("started", "ended"), [(None, 1000.0), (1000.0, 1000.0), (1001.0, 1000.0)])
@pytest.mark.parametrize(("left", "lost"), [(3600.0, False), (-120.0, True)])
def test_a_job_that_started_and_has_not_run_by_the_batch_system_perhaps_runs(
    started: float | None, ended: float, left: float, lost: bool
) -> None:
    """Slurm says CANCELLED, from 05:24:06 to 05:24:06, of an element that its node went on to run for nine seconds."""
    past = replace(remote(RemoteJobState.KILLED), started=started, ended=ended)
    findings, ends = look(a_job(missing=9999, left=left), past=past, journal=STARTED)
    assert [job.outcome for job in ends.jobs] == ([Outcome.PREEMPTED] if lost else [])
    assert [job.job_id for job in findings.unaccounted] == ([] if lost else [7])
    for journal in (STARTED._replace(is_stopped=True), ABSENT):
        assert outcome(look(a_job(missing=11), past=past, journal=journal)[1]) is Outcome.PREEMPTED


@pytest.mark.parametrize(
    ("past", "ended", "expected"),
    [
        (remote(RemoteJobState.KILLED), 1001.0, Outcome.PREEMPTED),
        (remote(RemoteJobState.KILLED, 137), 1000.0, Outcome.PREEMPTED),
        (remote(RemoteJobState.FAILED, 137), 1000.0, Outcome.LOST),
    ],
)
def test_a_job_that_started_and_ran_or_left_an_exit_code_by_the_batch_system_has_ended(
    past: RemoteJob, ended: float, expected: Outcome
) -> None:
    past = replace(past, started=1000.0, ended=ended)
    assert outcome(look(a_job(missing=11), past=past, journal=STARTED)[1]) is expected


WITHOUT_HOME = replace(remote(RemoteJobState.FAILED, 77), node="n7", reason="NonZeroExitCode")


def test_a_node_without_the_grids_directory_is_proof_that_nothing_ran() -> None:
    findings, ends = look(a_job(missing=11), past=WITHOUT_HOME, journal=JournalSummary())
    assert outcome(ends) is Outcome.LOST
    assert ends.jobs[0].reason == (
        "the grid's directory is not on node n7: is the home mounted there?; NonZeroExitCode"
    )
    assert "directory is not on node n7" in find_idle_deaths(ends, [], {}, {7: JournalSummary()}).examples[3]
    assert not findings.unaccounted
    assert not look(a_job(missing=9), past=WITHOUT_HOME, journal=JournalSummary())[1].jobs


@pytest.mark.parametrize("state", [JournalState.STARTED, JournalState.UNREAD])
def test_a_node_without_the_grids_directory_knows_of_no_start_elsewhere(state: JournalState) -> None:
    journal = JournalSummary(state=state)
    assert not look(a_job(missing=11), past=WITHOUT_HOME, journal=journal)[1].jobs


def test_a_job_that_says_itself_that_it_has_ended_does_not_run() -> None:
    findings, ends = look(a_job(missing=9999), journal=STARTED._replace(is_stopped=True))
    assert [attempt.outcome for attempt in ends.attempts] == [Outcome.WITHDRAWN]
    assert not findings.unaccounted


def test_a_job_that_perhaps_runs_keeps_what_its_other_tasks_have_told() -> None:
    findings, ends = look(a_job(missing=9999), records=(a_record(1),), tasks=2, journal=STARTED)
    assert [attempt.task_id for attempt in ends.attempts] == [101]
    assert not ends.jobs
    assert len(findings.unaccounted) == 1


@pytest.mark.parametrize(
    ("kill", "was_killed", "ended"),
    [(KillReason.DRAIN, True, True), (KillReason.DRAIN, False, False), (KillReason.USER, False, True)],
)
def test_a_job_that_was_gone_before_it_was_killed_perhaps_runs_unless_a_user_gives_it_up(
    kill: KillReason, was_killed: bool, ended: bool
) -> None:
    _, ends = look(a_job(missing=500, kill=kill)._replace(was_killed=was_killed), journal=STARTED)
    assert bool(ends.jobs) is ended


@pytest.mark.parametrize(("missing", "lost"), [(119.0, False), (120.0, True)])
def test_a_job_that_nobody_knows_is_lost_after_a_while(missing: float, lost: bool) -> None:
    _, ends = look(a_job(missing=missing))
    assert [job.outcome for job in ends.jobs] == ([Outcome.LOST] if lost else [])


def test_history_that_says_it_runs_finds_a_missing_job_again() -> None:
    findings, ends = look(a_job(missing=500), past=remote(RemoteJobState.RUNNING))
    assert findings.seen == [ListedJob(7, JobState.RUNNING, "12_1", "")]
    assert not ends.jobs


def test_history_that_does_not_know_lets_a_missing_job_be_lost_in_time() -> None:
    _, ends = look(a_job(missing=50), past=remote(RemoteJobState.UNKNOWN))
    assert not ends.jobs
    _, ends = look(a_job(missing=500), past=remote(RemoteJobState.UNKNOWN))
    assert outcome(ends) is Outcome.LOST


def test_a_job_we_killed_and_nobody_knows_any_more_is_dead_after_the_grace() -> None:
    _, ends = look(a_job(missing=11, kill=KillReason.USER))
    assert outcome(ends) is Outcome.KILLED
    assert ends.attempts[0].verdict.state is TaskState.CANCELLED


def test_the_record_of_an_attempt_that_lost_is_not_waited_for_but_the_batch_systems_word_is() -> None:
    lost = a_job(kill=KillReason.SUPERSEDED)
    _, ends = look(lost, past=remote(RemoteJobState.KILLED))
    assert outcome(ends) is Outcome.SUPERSEDED
    assert look(lost, listed=remote(RemoteJobState.RUNNING), past=remote(RemoteJobState.RUNNING))[1].jobs == []
    findings, ends = look(lost)
    assert (findings.missing, ends.jobs) == ([7], [])
    assert look(a_job(kill=KillReason.USER), past=remote(RemoteJobState.KILLED))[1].jobs == []


def test_preemption_is_free_and_first_in_line() -> None:
    _, ends = look(a_job(missing=11), past=remote(RemoteJobState.PREEMPTED))
    assert outcome(ends) is Outcome.PREEMPTED
    assert ends.attempts[0].verdict == (TaskState.WAITING, 20, 0, 1, 0, 0)


def test_a_second_start_that_proves_the_end_of_the_first_is_a_free_death_that_says_so() -> None:
    past = replace(remote(RemoteJobState.FAILED, 76), reason="NonZeroExitCode", restarts=1)
    _, ends = look(a_job(missing=11), past=past, journal=STARTED)
    assert outcome(ends) is Outcome.LOST
    assert ends.attempts[0].verdict[:4] == (TaskState.WAITING, 20, 0, 1)
    assert ends.jobs[0].reason == "NonZeroExitCode; begun again by the batch system, restarts: 1"


def test_a_job_goes_on_while_some_of_its_tasks_have_ended() -> None:
    findings, ends = look(a_job(), listed=remote(RemoteJobState.RUNNING), records=(a_record(1),), tasks=2)
    assert [attempt.task_id for attempt in ends.attempts] == [101]
    assert not ends.jobs
    assert findings.seen


def test_of_a_killed_job_only_the_task_that_ran_is_to_blame() -> None:
    job = a_job(missing=11)
    _, ends = look(job, past=remote(RemoteJobState.TIMEOUT), records=(a_record(1),), tasks=3)
    assert [attempt.outcome for attempt in ends.attempts] == [Outcome.SUCCESS, Outcome.PREEMPTED, Outcome.WITHDRAWN]
    assert outcome(ends) is Outcome.PREEMPTED  # it did not have the walltime for itself alone


def test_a_shared_job_that_stopped_in_order_began_no_other_task() -> None:
    past = remote(RemoteJobState.FAILED, 3)
    _, ends = look(
        a_job(missing=11), past=past, records=(a_record(1, 3),), tasks=3, journal=JournalSummary(2.5, is_stopped=True)
    )
    assert [attempt.outcome for attempt in ends.attempts] == [Outcome.FAILURE, Outcome.WITHDRAWN, Outcome.WITHDRAWN]


@pytest.mark.parametrize("state", [RemoteJobState.KILLED, RemoteJobState.PREEMPTED, RemoteJobState.FAILED])
@pytest.mark.parametrize("done", [0, 1])
@pytest.mark.parametrize(
    ("kill", "expected"), [(None, Outcome.PREEMPTED), (KillReason.FLOOD, Outcome.WITHDRAWN)], ids=["others", "us"]
)
def test_a_job_that_stopped_before_a_task_was_preempted_unless_by_us(
    state: RemoteJobState, done: int, kill: KillReason | None, expected: Outcome
) -> None:
    job, records = a_job(missing=11, kill=kill), tuple(a_record(place) for place in range(1, done + 1))
    _, ends = look(
        job, past=remote(state), records=records, tasks=3, journal=JournalSummary(2.5 * done, is_stopped=True)
    )
    assert {attempt.outcome for attempt in ends.attempts[done:]} == {Outcome.WITHDRAWN}
    assert [end.outcome for end in ends.jobs] == [expected]


def test_the_exit_code_of_a_shared_job_is_not_that_of_a_task_without_record() -> None:
    _, ends = look(a_job(missing=130), past=remote(RemoteJobState.FAILED, 3), records=(a_record(1, 3),), tasks=2)
    assert [attempt.outcome for attempt in ends.attempts] == [Outcome.FAILURE, Outcome.LOST]


def test_the_first_task_of_a_shared_job_had_the_walltime_for_itself() -> None:
    _, ends = look(a_job(missing=11), past=remote(RemoteJobState.TIMEOUT), tasks=2)
    assert [attempt.outcome for attempt in ends.attempts] == [Outcome.WALLTIME, Outcome.WITHDRAWN]


@pytest.mark.parametrize("state", [RemoteJobState.TIMEOUT, RemoteJobState.OUT_OF_MEMORY])
@pytest.mark.parametrize("journal", [JournalState.ABSENT, JournalState.VOIDED])
def test_a_job_that_was_never_begun_costs_its_task_nothing_whatever_the_batch_system_believes(
    state: RemoteJobState, journal: JournalState
) -> None:
    """As after a restart from old state, when a job gets the id of another that still runs on its node."""
    _, ends = look(a_job(missing=11), past=remote(state), journal=JournalSummary(state=journal))
    assert outcome(ends) is Outcome.LOST
    assert ends.attempts[0].verdict.failures == 0
    assert ends.attempts[0].verdict.state is TaskState.WAITING
    _, begun = look(a_job(missing=130), past=remote(state), journal=STARTED)
    assert begun.attempts[0].verdict.failures == 1


@pytest.mark.parametrize(("exit_code", "expected"), [(0, Outcome.SUCCESS), (2, Outcome.FAILURE), (66, Outcome.FAILURE)])
def test_a_prologue_ends_by_its_record(exit_code: int, expected: Outcome) -> None:
    _, ends = look(a_job(kind=JobKind.PROLOGUE), records=(a_record(exit_code=exit_code),))
    assert outcome(ends) is expected
    assert not ends.attempts


def test_those_missed_last_are_asked_after_first_and_others_not_at_all() -> None:
    """Of a full answer, the journals at its end are not read: their jobs are missed anew."""
    superseded, old, new = a_job(kill=KillReason.SUPERSEDED), a_job(missing=600), a_job(missing=5)
    assert list_asked_after([superseded, old, a_job(), new]) == [new, old, superseded]


@pytest.mark.parametrize(
    ("use", "peak"),
    [(TaskUse(1, 2, 3, 712 * 2**20), 712 * 2**20), (TaskUse(1, 2, 3), None), (None, None)],
    ids=["measured", "of a wrapper before", "not run"],
)
@pytest.mark.parametrize("tasks", [1, 2], ids=["the job has ended", "the job goes on"])
def test_the_peak_of_a_record_is_that_of_its_attempt(use: TaskUse | None, peak: int | None, tasks: int) -> None:
    """Where nobody has looked that is no 0."""
    _, ends = look(a_job(), listed=remote(RemoteJobState.RUNNING), records=(a_record()._replace(use=use),), tasks=tasks)
    assert ends.attempts[0].peak == peak
