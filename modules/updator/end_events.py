"""What is told of jobs that ended: events for people, and the trials that the error budget counts; pure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from cigri.flow.clusters import ClusterRow
from cigri.flow.ends import EndedAttempt
from cigri.flow.error_budgets import ErrorBudgetUpdate
from cigri.flow.events import NewEvent
from cigri.formats.untrusted_text import escape_line
from cigri.lifecycle.task_failures import STDERR, TASK_FAILED
from cigri.lifecycle.verdicts import EXIT_RESUBMIT, EXIT_RESUBMIT_END, FAULT_OF_TASK
from cigri.states import EventLevel, JobKind, Outcome, TaskState
from modules.updator.job_conclusions import VisitEnds

BOUNDS = {Outcome.CHECKPOINTED: "checkpoints", Outcome.RESUBMIT: "resubmissions", Outcome.RESUBMIT_END: "resubmissions"}

REDONE_ON_REQUEST = {
    Outcome.RESUBMIT: ("RESUBMIT", EXIT_RESUBMIT, "before all others"),
    Outcome.RESUBMIT_END: ("RESUBMIT_END", EXIT_RESUBMIT_END, "after all others"),
}
"""Codes of events, as CiGri 3 called them, by what tasks ask for."""


def events(
    cluster: ClusterRow,
    attempts: Sequence[EndedAttempt],
    ends: VisitEnds,
    reasons: Mapping[int, str],
    tails: Mapping[tuple[int, int], str],
) -> list[NewEvent]:
    """One per task that is given up, per step that failed, and per campaign whose tasks ask to be done again."""
    events = []
    for attempt in attempts:
        if attempt.verdict.state is TaskState.FAILED:
            why = reasons.get(attempt.job_id, "")
            message = _how(attempt.outcome, attempt.exit_code) + (f" ({why})" if why else "")
            if bound := BOUNDS.get(attempt.outcome):
                message += f", once more than the setting jobs.{bound} allows"
            message += _said(tails.get((attempt.job_id, attempt.position)))
            subject = f"task {attempt.task_id}"
            ids = (attempt.campaign_id, cluster.id, attempt.job_id, attempt.task_id)
            events.append(NewEvent(TASK_FAILED, EventLevel.ERROR, subject, message, *ids))
    for job in ends.jobs:
        if job.kind is not JobKind.TASKS and job.outcome in FAULT_OF_TASK | {Outcome.KILLED}:
            code = f"{job.kind.upper()}_FAILED"
            message = _how(job.outcome, job.exit_code) + _said(tails.get((job.job_id, 1)))
            subject = f"campaign {job.campaign_id} on {cluster.name}"
            events.append(NewEvent(code, EventLevel.ERROR, subject, message, job.campaign_id, cluster.id, job.job_id))
    return events + _asked_again(cluster, attempts)


def _asked_again(cluster: ClusterRow, attempts: Sequence[EndedAttempt]) -> list[NewEvent]:
    """Of a campaign's tasks that asked by an exit code to be done again, and will be; the last job stands for all."""
    asked = [one for one in attempts if one.outcome in REDONE_ON_REQUEST and one.verdict.state is TaskState.WAITING]
    counts = Counter((one.campaign_id, one.outcome) for one in asked)
    last_jobs = {(one.campaign_id, one.outcome): one.job_id for one in asked}
    events = []
    for (campaign_id, outcome), number in counts.items():
        code, exit_code, place = REDONE_ON_REQUEST[outcome]
        tasks = "a task" if number == 1 else f"{number} tasks"
        message = f"{tasks} ended with exit code {exit_code}, to be done again {place}"
        ids = (campaign_id, cluster.id, last_jobs[campaign_id, outcome])
        events.append(NewEvent(code, EventLevel.INFO, f"campaign {campaign_id} on {cluster.name}", message, *ids))
    return events


def count_failures(
    attempts: Sequence[EndedAttempt], tails: Mapping[tuple[int, int], str]
) -> dict[int, ErrorBudgetUpdate]:
    """Per campaign, in the order in which the tasks ended."""
    trials: dict[int, ErrorBudgetUpdate] = {}
    for attempt in sorted(attempts, key=_ended_at):
        trial = trials.get(attempt.campaign_id, ErrorBudgetUpdate(False, 0, ""))
        if attempt.outcome is Outcome.SUCCESS:
            trial = ErrorBudgetUpdate(has_success=True, failures=0, example="")
        elif attempt.outcome in FAULT_OF_TASK:
            example = f"job {attempt.job_id}: {_how(attempt.outcome, attempt.exit_code)}"
            said = tails.get((attempt.job_id, attempt.position))
            example += f", {escape_line(said[-300:])}" if said else ""
            trial = trial._replace(failures=trial.failures + 1, example=example)
        trials[attempt.campaign_id] = trial
    return trials


def _how(outcome: Outcome, exit_code: int | None) -> str:
    """An outcome in words, with the exit code; None: a job that was killed has none."""
    return str(outcome) if exit_code is None else f"{outcome}, exit code {exit_code}"


def _said(tail: str | None) -> str:
    return f"{STDERR}{escape_line(tail)}" if tail else ""


def _ended_at(attempt: EndedAttempt) -> float:
    """In epoch seconds; one whose end nobody noted counts as the last."""
    return math.inf if attempt.started is None else attempt.started + (attempt.seconds or 0.0) + attempt.halted
