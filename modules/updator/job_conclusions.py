"""What a visit to a cluster tells of each watched job: pure, from what was seen to what is concluded."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from cigri.drivers import RemoteJob, RemoteJobState
from cigri.flow.ends import EndedAttempt, EndedJob
from cigri.flow.live_jobs import ListedJob, WatchedJob
from cigri.flow.profiles import TaskResourceUse
from cigri.flow.views.live_attempts import LiveAttempt
from cigri.lifecycle.verdicts import (
    EXIT_NO_DIRECTORY,
    AttemptCounts,
    decide_verdict,
    is_proof,
    outcome_of_kill,
    outcome_of_record,
    outcome_of_state,
)
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.sections import JobSettings
from cigri.states import JobKind, JobState, KillReason, Outcome
from cigri.wrapper import JournalState, TaskEndCause, TaskRecord

RUNNING_STATES = frozenset({RemoteJobState.RUNNING, RemoteJobState.SUSPENDED})
HALTED_STATES = frozenset({RemoteJobState.HELD, RemoteJobState.SUSPENDED})
CANCELLED_STATES = frozenset({RemoteJobState.KILLED, RemoteJobState.PREEMPTED})


class ArrayElement(NamedTuple):
    """A job by the name of its batch and its index."""

    tag: str
    array_index: int


class JournalSummary(NamedTuple):
    """What the journal of a job says: seconds of its ended tasks, and whether it stopped before the others.

    `has_start`: the line that it writes when it starts was read.
    """

    seconds: float = 0.0
    is_stopped: bool = False
    state: JournalState = JournalState.ABSENT
    has_start: bool = False

    @property
    def may_run(self) -> bool:
        """It was started, and did not say that it has ended."""
        return self.state is JournalState.STARTED and not self.is_stopped

    @property
    def is_started(self) -> bool:
        """Known to have been started."""
        return self.state in (JournalState.STARTED, JournalState.UNREAD)

    @property
    def is_unstarted(self) -> bool:
        """Its files are there, and no start in them."""
        return self.state in (JournalState.ABSENT, JournalState.VOIDED)

    @property
    def has_begun(self) -> bool:
        """Not known never to have been started."""
        return not self.is_unstarted


NO_JOURNAL = JournalSummary()


class VisitObservation(NamedTuple):
    """All that one visit saw. `listed` is None when the list of live jobs could not be read: then nobody is missing.

    `journals` of the jobs that were asked after, by job.
    """

    listed: Mapping[ArrayElement, RemoteJob] | None
    history: Mapping[ArrayElement, RemoteJob]
    records: Mapping[int, Mapping[int, TaskRecord]]  # by job, then position
    journals: Mapping[int, JournalSummary] = MappingProxyType({})


class ObservedEnd(NamedTuple):
    """A job that has ended: by the batch system's word, or (state None) because each of its tasks has a record.

    Unless `is_proven` it only should have ended, if it was started at all.
    """

    job: WatchedJob
    state: RemoteJobState | None
    exit_code: int | None
    reason: str
    node: str
    seconds: float | None = None
    is_proven: bool = True


class JobChanges(NamedTuple):
    """`progressed`: jobs that go on, some of whose tasks have ended; `unaccounted`: those that perhaps still run.

    `begun`: those whose start was looked for and found; `unstarted`: running ones, whose start was looked for in vain.
    """

    ended: list[ObservedEnd]
    progressed: list[WatchedJob]
    seen: list[ListedJob]
    missing: list[int]
    unaccounted: list[WatchedJob]
    begun: list[WatchedJob]
    unstarted: list[WatchedJob]


class VisitEnds(NamedTuple):
    """`without_inputs`: campaigns whose tasks have not found their inputs."""

    attempts: list[EndedAttempt]
    jobs: list[EndedJob]
    without_inputs: set[int]


def detect_changes(
    watched: Sequence[WatchedJob],
    tasks: Mapping[int, int],
    sight: VisitObservation,
    now: datetime,
    config: ClusterConfig,
) -> JobChanges:
    """Sort the watched jobs; `tasks` says how many live tasks each carries (a prologue counts as one)."""
    findings = JobChanges([], [], [], [], [], [], [])
    for job in watched:
        records = sight.records.get(job.job_id, {})
        key = ArrayElement(job.tag, job.array_index)
        if records and len(records) >= tasks.get(job.job_id, 1):
            last = records[max(records)]
            findings.ended.append(ObservedEnd(job, None, last.exit_code, "", last.node))
            continue
        remote = sight.listed.get(key) if sight.listed is not None else None
        past = sight.history.get(key)
        if past is not None and not past.state.is_final:
            remote, past = remote or (past if past.state is not RemoteJobState.UNKNOWN else None), None
        end, journal = None, sight.journals.get(job.job_id, NO_JOURNAL)
        if journal.is_started and (job.is_start_due or job.has_begun is False):
            findings.begun.append(job)
        is_unstarted = job.is_start_due and job.job_id in sight.journals and journal.is_unstarted
        is_silent = is_unstarted and remote is not None and remote.state in RUNNING_STATES
        if remote is not None and job.is_undead and is_silent:
            end = _end_of_undead(job, remote)
            findings.ended.append(end)
        elif remote is not None:
            _see(findings, job, remote)
            if is_silent:
                findings.unstarted.append(job)
        elif sight.listed is not None and (end := _end_of_missing(job, past, journal, now, config)):
            if end.is_proven or not _may_run(job, journal, now, config):
                findings.ended.append(end)
            else:
                findings.unaccounted.append(job)
                end = None
        elif sight.listed is not None and job.missing_since is None:
            findings.missing.append(job.job_id)
        if records and end is None:
            findings.progressed.append(job)
    return findings


def decide_ends(
    findings: JobChanges,
    attempts: Mapping[int, Sequence[LiveAttempt]],
    records: Mapping[int, Mapping[int, TaskRecord]],
    limits: JobSettings,
    journals: Mapping[int, JournalSummary] = MappingProxyType({}),
) -> VisitEnds:
    """The end of each attempt and job, with the verdict on its task; records and `journals` by job."""
    ends = VisitEnds([], [], set())
    for job in (*findings.progressed, *(end.job for end in findings.ended)):
        if any(record.cause is TaskEndCause.INPUTS for record in records.get(job.job_id, {}).values()):
            ends.without_inputs.add(job.campaign_id)
    for job in findings.progressed:
        by_position = records[job.job_id]
        for attempt in attempts.get(job.job_id, ()):
            if record := by_position.get(attempt.position):
                ends.attempts.append(_by_record(job, attempt, record, limits))
    for end in findings.ended:
        job_id = end.job.job_id
        by_position = records.get(job_id, {})
        journal = journals.get(job_id, NO_JOURNAL)
        has_begun = bool(by_position) or job_id not in journals or journal.has_begun
        ended = _attempts_of(end, attempts.get(job_id, ()), by_position, journal, limits, has_begun=has_begun)
        ends.attempts.extend(ended)
        ends.jobs.append(_job_end(end, ended, by_position, journal, has_begun=has_begun))
    return ends


def _see(findings: JobChanges, job: WatchedJob, remote: RemoteJob) -> None:
    if remote.state is RemoteJobState.UNKNOWN:
        state, is_halted = job.state, job.is_halted
    else:
        state = JobState.RUNNING if remote.state in RUNNING_STATES else JobState.SUBMITTED
        is_halted = remote.state in HALTED_STATES
    changed = state is not job.state or is_halted is not job.is_halted or remote.remote_id != job.remote_id
    if changed or job.missing_since is not None:
        findings.seen.append(ListedJob(job.job_id, state, remote.remote_id, remote.node, is_halted, remote.started))


def _end_of_missing(
    job: WatchedJob, past: RemoteJob | None, journal: JournalSummary, now: datetime, config: ClusterConfig
) -> ObservedEnd | None:
    """Records are older than the queue's word: they had the time between two visits and the grace to appear.

    Those of an attempt that has lost against another one are not waited for.
    """
    if job.kill is KillReason.SUPERSEDED and past is not None:
        return ObservedEnd(job, past.state, past.exit_code, _reason(past), past.node, _seconds(past))
    if job.missing_since is None:
        return None
    age = (now - job.missing_since).total_seconds()
    is_nowhere = past is not None and _lacks_directory(past) and journal.is_unstarted
    if past is not None and (journal.is_stopped or is_nowhere or _is_proof(past, journal)):
        is_over = age >= config.record_grace
        return (
            ObservedEnd(job, past.state, past.exit_code, _reason(past), past.node, _seconds(past)) if is_over else None
        )
    if job.kill is not None and (past is None or job.kill is KillReason.USER) and age >= config.record_grace:
        is_proven = job.kill is KillReason.USER or job.was_killed
        reason = "killed, and no longer known to the batch system"
        return ObservedEnd(job, RemoteJobState.KILLED, None, reason, "", is_proven=is_proven)
    if age < config.lost_after:
        return None
    if past is None:
        return ObservedEnd(
            job, RemoteJobState.UNKNOWN, None, f"nobody has known this job for {age:.0f} s", "", is_proven=False
        )
    reason = "; ".join(filter(None, (f"{past.state} without a record, exit code {past.exit_code}", _reason(past))))
    return ObservedEnd(job, past.state, past.exit_code, reason, past.node, _seconds(past), is_proven=False)


def _is_proof(past: RemoteJob, journal: JournalSummary) -> bool:
    """Not where the job was started that has been cancelled, by the batch system, before it ran for any time.

    A slurmctld that cancels an array just as it starts it may send the kill before the launch. An exit code comes
    from the node.
    """
    has_not_run = past.ended is not None and (_seconds(past) or 0.0) <= 0.0
    is_cancelled_early = past.state in CANCELLED_STATES and past.exit_code is None and has_not_run
    return is_proof(past.state, past.exit_code) and not (is_cancelled_early and journal.may_run)


def _end_of_undead(job: WatchedJob, remote: RemoteJob) -> ObservedEnd:
    """A job that has not started, and is listed as running however often it is killed: its cluster has lost it."""
    reason = "it never started, and its batch system lists it as running though it was killed"
    return ObservedEnd(job, RemoteJobState.KILLED, None, reason, remote.node, is_proven=False)


def _may_run(job: WatchedJob, journal: JournalSummary, now: datetime, config: ClusterConfig) -> bool:
    """It was started, and has left no record: until its walltime is over nobody knows that it does not run."""
    lag = timedelta(seconds=config.lost_after)
    return journal.may_run and job.runs_until is not None and now < job.runs_until + lag


def _seconds(past: RemoteJob) -> float | None:
    return past.ended - past.started if past.started is not None and past.ended is not None else None


def _lacks_directory(past: RemoteJob) -> bool:
    """It ran nothing, for want of the grid's directory on its node; that says nothing of an earlier start elsewhere."""
    return past.state is RemoteJobState.FAILED and past.exit_code == EXIT_NO_DIRECTORY


def _reason(past: RemoteJob) -> str:
    where = f"node {past.node}" if past.node else "its node"
    lacking = f"the grid's directory is not on {where}: is the home mounted there?" if _lacks_directory(past) else ""
    again = f"begun again by the batch system, restarts: {past.restarts}" if past.restarts else ""
    return "; ".join(filter(None, (lacking, past.reason, again)))


def _attempts_of(
    end: ObservedEnd,
    attempts: Sequence[LiveAttempt],
    records: Mapping[int, TaskRecord],
    journal: JournalSummary,
    limits: JobSettings,
    *,
    has_begun: bool,
) -> list[EndedAttempt]:
    """Tasks are begun in order: of those without a record only the first `side` can have begun.

    The exit code of a job that several tasks share is not that of the one that has no record.
    """
    ended, begun = [], 0 if journal.is_stopped else end.job.side
    for attempt in sorted(attempts, key=lambda attempt: attempt.position):
        if record := records.get(attempt.position):
            ended.append(_by_record(end.job, attempt, record, limits))
            continue
        if begun > 0:
            seconds = None if end.seconds is None else max(0.0, end.seconds - journal.seconds)
            exit_code = None if attempt.is_shared else end.exit_code
            outcome = outcome_of_state(end.state or RemoteJobState.UNKNOWN, end.job.kill, has_begun=has_begun)
            ended.append(_ended(end.job, attempt, outcome, exit_code, None, seconds, limits))
        else:
            outcome = outcome_of_kill(end.job.kill, has_begun=has_begun) if end.job.kill else Outcome.WITHDRAWN
            ended.append(_ended(end.job, attempt, outcome, None, None, None, limits))
        begun -= 1
    return ended


def _by_record(job: WatchedJob, attempt: LiveAttempt, record: TaskRecord, limits: JobSettings) -> EndedAttempt:
    continues = attempt.saving.continues(record.seconds)
    outcome = outcome_of_record(record.exit_code, record.cause, job.kill, continues=continues)
    ended = _ended(job, attempt, outcome, record.exit_code, record.started, record.seconds, limits)
    peak = record.use.peak if record.use else None
    return ended._replace(files=record.files, bytes=record.bytes, used=_used(record), peak=peak)


def _used(record: TaskRecord) -> TaskResourceUse | None:
    """None where one of the amounts is not known: what is told of a task is told of it whole."""
    use, seconds = record.use, record.seconds
    if use is None or seconds is None or use.cpu_ms is None or use.read is None or use.written is None:
        return None
    return TaskResourceUse(seconds, use.cpu_ms / 1000, use.read, use.written)


def _ended(
    job: WatchedJob,
    attempt: LiveAttempt,
    outcome: Outcome,
    exit_code: int | None,
    started: float | None,
    seconds: float | None,
    limits: JobSettings,
) -> EndedAttempt:
    has_saved = attempt.saving.has_saved(outcome, seconds)
    if outcome is Outcome.WALLTIME and attempt.position > 1:  # the walltime was not its own alone
        outcome = Outcome.PREEMPTED
    past = AttemptCounts(attempt.failures, attempt.deaths, attempt.resubmissions, attempt.retries, attempt.checkpoints)
    verdict = decide_verdict(outcome, past, limits)
    ids = (job.campaign_id, job.job_id, attempt.task_id, attempt.number)
    return EndedAttempt(*ids, outcome, exit_code, started, seconds, verdict, has_saved, attempt.position)


def _job_end(
    end: ObservedEnd,
    attempts: Sequence[EndedAttempt],
    records: Mapping[int, TaskRecord],
    journal: JournalSummary,
    *,
    has_begun: bool,
) -> EndedJob:
    """A job ended as the worst of its tasks did; one without tasks (a prologue) as its record or its state says.

    One that stopped before a task gave way, though none of its tasks did.
    """
    if attempts:
        odd = [attempt for attempt in attempts if attempt.outcome is not Outcome.SUCCESS]
        worst = next((attempt for attempt in odd if attempt.outcome is not Outcome.WITHDRAWN), (odd or attempts)[-1])
        outcome, exit_code = worst.outcome, worst.exit_code
        if outcome is Outcome.WITHDRAWN and journal.is_stopped and end.job.kill is None:
            outcome = Outcome.PREEMPTED
    elif records:
        last = records[max(records)]
        outcome, exit_code = outcome_of_record(last.exit_code, last.cause, end.job.kill), last.exit_code
    else:
        outcome = outcome_of_state(end.state or RemoteJobState.UNKNOWN, end.job.kill, has_begun=has_begun)
        exit_code = end.exit_code
    if end.job.kind is not JobKind.TASKS and outcome in (Outcome.RESUBMIT, Outcome.RESUBMIT_END):
        outcome = Outcome.FAILURE
    started = min((record.started for record in records.values() if record.started is not None), default=None)
    lasted = end.seconds
    if end.job.kind is not JobKind.TASKS and records:
        lasted = sum(record.seconds or 0.0 for record in records.values())
    return EndedJob(
        end.job.job_id,
        end.job.campaign_id,
        end.job.kind,
        outcome,
        exit_code,
        end.node,
        end.reason,
        started,
        lasted,
    )
