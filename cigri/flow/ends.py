"""Ends: what became of attempts and jobs, and so of their tasks.
Given by: operator, runner, updator, users.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ScalarSelect,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.selectable import CTE, Select
from sqlalchemy.types import TypeEngine

from cigri.database import bound_values_table, rows_as_json
from cigri.flow.accounting import accounted
from cigri.flow.campaign_totals import added_up, totals
from cigri.flow.fair_share_usage import USED, used
from cigri.flow.kill_requests import closing
from cigri.flow.outcome_counts import attempts_counted, jobs_counted
from cigri.flow.parcels import NewParcel, put_parcels
from cigri.flow.profiles import TaskResourceUse, profile
from cigri.flow.replicas import ReplicatedTask, lock_replicated, supersede
from cigri.flow.standstill import list_standstills, ran_seconds
from cigri.flow.task_durations import record_durations
from cigri.lifecycle.standstill import shared_out
from cigri.lifecycle.verdicts import FAULT_OF_TASK, STAYS, TRIED_ELSEWHERE, TaskVerdict
from cigri.states import (
    ATTEMPT_LIFE,
    NEVER_RAN,
    TASK_LIFE,
    CampaignState,
    JobKind,
    JobState,
    Outcome,
    StepState,
    TaskState,
)
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from cigri.tables.transitions import transition_each, transition_to

ATTEMPTS: Mapping[str, TypeEngine[Any]] = {
    "task_id": BigInteger(),
    "number": BigInteger(),
    "outcome": Text(),
    "exit_code": BigInteger(),
    "started": DOUBLE_PRECISION(),
    "seconds": DOUBLE_PRECISION(),
    "files": BigInteger(),
    "bytes": BigInteger(),
    "halted": DOUBLE_PRECISION(),
    "peak": BigInteger(),
}

TASK_VALUES: Mapping[str, TypeEngine[Any]] = {
    "id": BigInteger(),
    "number": BigInteger(),
    "state": Text(),
    **dict.fromkeys(("priority", "failures", "deaths", "resubmissions", "checkpoints"), BigInteger()),
    "has_saved": Boolean(),
    "has_run": Boolean(),
    "has_failed": Boolean(),
}

JOBS: Mapping[str, TypeEngine[Any]] = {
    "id": BigInteger(),
    "outcome": Text(),
    "exit_code": BigInteger(),
    "node": Text(),
    "reason": Text(),
    "started": DOUBLE_PRECISION(),
    "lasted": DOUBLE_PRECISION(),
}


class EndedAttempt(NamedTuple):
    """`started` in epoch seconds of the cluster's clock, `seconds` of its duration; None when nobody knows.

    `files` and `bytes`: of its outputs. `used`: None where nobody told. `halted`: seconds that it stood still; they are
    among its `seconds` until the end is put. `peak`: bytes of memory that it was seen with.
    """

    campaign_id: int
    job_id: int
    task_id: int
    number: int
    outcome: Outcome
    exit_code: int | None
    started: float | None
    seconds: float | None
    verdict: TaskVerdict
    has_saved: bool = False
    position: int = 1
    files: int = 0
    bytes: int = 0
    used: TaskResourceUse | None = None
    halted: float = 0.0
    peak: int | None = None

    def without(self, halted: float) -> "EndedAttempt":
        """The same without so many seconds for which it stood still."""
        if not halted or self.seconds is None:
            return self
        seconds = self.seconds - halted
        return self._replace(seconds=seconds, halted=halted, used=self.used and self.used._replace(seconds=seconds))


class EndedJob(NamedTuple):
    """`started` in epoch seconds of the cluster's clock; `lasted`: seconds, if more is told than its tasks' records."""

    job_id: int
    campaign_id: int
    kind: JobKind
    outcome: Outcome
    exit_code: int | None
    node: str
    reason: str
    started: float | None
    lasted: float | None = None


def put_ended(
    conn: Connection, cluster_id: int, attempts: Sequence[EndedAttempt], jobs: Sequence[EndedJob]
) -> list[EndedAttempt]:
    """Settle ends by compare-and-set and give those that were news; an end already settled changes nothing.

    Of several attempts at a task the first success is the task's. That one loses is decided here, too: it comes back as
    superseded; and one that ends badly while another lives leaves the task ASSIGNED.
    """
    attempts = _without_standstills(conn, attempts, {job.job_id for job in jobs})
    standing, fresh, over = _end(conn, cluster_id, attempts, jobs)
    _end_steps(conn, cluster_id, over)
    put_parcels(conn, cluster_id, list(_left(fresh)))
    _add_up(conn, cluster_id, fresh)
    if standing:
        supersede(conn, list(standing))
    if lasted := {attempt.task_id: attempt.seconds or 0.0 for attempt in fresh if attempt.outcome is Outcome.SUCCESS}:
        record_durations(conn, cluster_id, lasted)
    return fresh


def put_unsent(conn: Connection, attempts: Sequence[EndedAttempt], jobs: Mapping[int, Sequence[EndedJob]]) -> None:
    """As `put_ended`, of attempts that have not run; `jobs` are by the id of their cluster."""
    standing, fresh, over = _end(conn, None, attempts, [job for there in jobs.values() for job in there])
    ended = {job.job_id for job in over}
    for cluster_id, there in jobs.items():
        ids = {job.job_id for job in there}
        _end_steps(conn, cluster_id, [job for job in there if job.job_id in ended])
        _add_up(conn, cluster_id, [attempt for attempt in fresh if attempt.job_id in ids])
    if standing:
        supersede(conn, list(standing))


def _without_standstills(
    conn: Connection, attempts: Sequence[EndedAttempt], over: Collection[int]
) -> list[EndedAttempt]:
    """Subtract the time for which their jobs stood still; what lasts counts only for jobs that are `over`."""
    standstills = list_standstills(conn, {attempt.job_id for attempt in attempts if attempt.seconds})
    shares: dict[tuple[int, int], float] = {}
    for job_id, stood in standstills.items():
        own = [attempt for attempt in attempts if attempt.job_id == job_id]
        halted = stood.whole if job_id in over else stood.before
        shared = shared_out(halted, stood.side, stood.told, [attempt.seconds or 0.0 for attempt in own])
        shares |= {(attempt.task_id, attempt.number): share for attempt, share in zip(own, shared, strict=True)}
    return [attempt.without(shares.get((attempt.task_id, attempt.number), 0.0)) for attempt in attempts]


def _end(
    conn: Connection, cluster_id: int | None, attempts: Sequence[EndedAttempt], jobs: Sequence[EndedJob]
) -> tuple[Mapping[int, ReplicatedTask], list[EndedAttempt], list[EndedJob]]:
    """The tasks of several attempts; the ends that were news, of attempts and of jobs."""
    standing = lock_replicated(conn, {a.campaign_id for a in attempts}, [a.task_id for a in attempts])
    attempts = list(settle(attempts, standing))
    moved = _end_attempts(conn, cluster_id, attempts)
    over = _end_jobs(conn, jobs)
    fresh = [attempt for attempt in attempts if (attempt.task_id, attempt.number) in moved]
    return standing, fresh, [job for job in jobs if job.job_id in over]


def settle(attempts: Iterable[EndedAttempt], standing: Mapping[int, ReplicatedTask]) -> Iterator[EndedAttempt]:
    """Give each end as it counts for a task that has, or had, several attempts; pure.

    A user's kill ends the task as a whole. Whatever else ends while another attempt lives costs nothing.
    """
    over = {task_id for task_id, task in standing.items() if task.state is not TaskState.ASSIGNED}
    live = {task_id: set(task.live) for task_id, task in standing.items()}
    for attempt in attempts:
        task_id = attempt.task_id
        others = live.get(task_id, set()) - {attempt.number}
        if task_id in standing and attempt.number not in standing[task_id].live:
            yield attempt  # settled before
        elif task_id in over and attempt.outcome is not Outcome.KILLED:
            yield attempt._replace(outcome=Outcome.SUPERSEDED, verdict=STAYS)
        elif others and attempt.verdict.state not in (TaskState.DONE, TaskState.CANCELLED):
            live[task_id] = others
            yield attempt._replace(verdict=STAYS)
        else:
            if task_id in standing:
                over.add(task_id)
            yield attempt


def _end_attempts(conn: Connection, cluster_id: int | None, attempts: Sequence[EndedAttempt]) -> set[tuple[int, int]]:
    """Give (task, number) of the attempts that had not ended; their tasks move with them, unless they are superseded.

    A task of a cancelled campaign is not done again. One that ran begins to wait for its checkpoint's cluster; one that
    stays where it is may have left a checkpoint. Those of no cluster have not run.
    """
    if not attempts:
        return set()
    names = ("task_id", "number", "outcome", "exit_code", "started", "seconds", "files", "bytes", "halted", "peak")
    ended = [tuple(getattr(attempt, name) for name in names) for attempt in attempts]
    telling = [(a, bool(cluster_id) and a.outcome not in NEVER_RAN, a.outcome in TRIED_ELSEWHERE) for a in attempts]
    judged = [
        (a.task_id, a.number, *a.verdict, a.has_saved, *ended)
        for a, *ended in telling
        if a.outcome is not Outcome.SUPERSEDED
    ]
    parameters = {
        "ended": rows_as_json(ATTEMPTS, ended),
        "judged": rows_as_json(TASK_VALUES, judged),
        "here": cluster_id,
    }
    return {(task_id, number) for task_id, number in conn.execute(_attempts_ended(), parameters)}


@cache
def _attempts_ended() -> Select[int, int]:
    ended = bound_values_table("ended", ATTEMPTS)
    moved = (
        transition_each(Attempt.c.outcome, cast(ended.c.outcome, Attempt.c.outcome.type), ATTEMPT_LIFE.targets(None))
        .where(Attempt.c.task_id == ended.c.task_id, Attempt.c.number == ended.c.number)
        .values(
            exit_code=ended.c.exit_code,
            started_at=func.to_timestamp(ended.c.started),
            seconds=ended.c.seconds,
            files=ended.c.files,
            bytes=ended.c.bytes,
            halted_seconds=ended.c.halted,
            peak_memory=ended.c.peak,
        )
        .returning(*(Attempt.c[name] for name in ("task_id", "number", "job_id", "outcome", "is_replica")))
        .cte("moved")
    )
    counted, tasks = attempts_counted(moved).cte("counted"), _tasks_moved(moved).cte("tasks_moved")
    return select(moved.c.task_id, moved.c.number).add_cte(tasks, counted)


def _tasks_moved(moved: CTE) -> Update:
    judged = bound_values_table("judged", TASK_VALUES)
    again = judged.c.state.in_((TaskState.WAITING.value, TaskState.FAILED.value))
    gone = and_(again, Campaign.c.state == CampaignState.CANCELLED)
    waits_anew = and_(judged.c.has_run, Task.c.checkpoint_cluster_id.is_not(None))
    state = cast(case((gone, TaskState.CANCELLED.value), else_=judged.c.state), Task.c.state.type)
    return (
        transition_each(Task.c.state, state, among=(TaskState.ASSIGNED, *TASK_LIFE.targets(TaskState.ASSIGNED)))
        .where(moved.c.task_id == judged.c.id, moved.c.number == judged.c.number)
        .where(Task.c.id == judged.c.id, Campaign.c.id == Task.c.campaign_id)
        .values(
            priority=judged.c.priority,
            failures=Task.c.failures + judged.c.failures,
            deaths=Task.c.deaths + judged.c.deaths,
            resubmissions=Task.c.resubmissions + judged.c.resubmissions,
            checkpoints=Task.c.checkpoints + judged.c.checkpoints,
            checkpoint_cluster_id=case(
                (judged.c.has_saved, bindparam("here", type_=BigInteger)), else_=Task.c.checkpoint_cluster_id
            ),
            failed_cluster_id=case(
                (judged.c.has_failed, bindparam("here", type_=BigInteger)), else_=Task.c.failed_cluster_id
            ),
            stopped_at=case((or_(judged.c.has_saved, waits_anew), func.now()), else_=Task.c.stopped_at),
        )
    )


def _end_jobs(conn: Connection, jobs: Sequence[EndedJob]) -> set[int]:
    """A job began with the first of its tasks, and one of several is no success unless each of them is.

    Those that were not over add to the usage of their users, and nobody wishes any longer that one of them is killed.
    """
    if not jobs:
        return set()
    ended = [(j.job_id, j.outcome, j.exit_code, j.node, j.reason, j.started, j.lasted) for j in jobs]
    return set(conn.scalars(_jobs_ended(), {"ended": rows_as_json(JOBS, ended)}))


@cache
def _jobs_ended() -> Select[int]:
    ended = bound_values_table("ended", JOBS)
    begun = select(func.min(Attempt.c.started_at)).where(Attempt.c.job_id == Job.c.id).scalar_subquery()
    started = func.coalesce(begun, func.to_timestamp(ended.c.started), Job.c.started_at)
    is_success = ended.c.outcome == Outcome.SUCCESS.value
    outcome = cast(ended.c.outcome, Job.c.outcome.type)
    over = (
        transition_to(Job.c.state, JobState.ENDED)
        .where(Job.c.id == ended.c.id)
        .values(
            outcome=case((is_success, func.coalesce(_worse(Attempt.c.outcome), outcome)), else_=outcome),
            exit_code=case(
                (is_success, func.coalesce(_worse(Attempt.c.exit_code), ended.c.exit_code)), else_=ended.c.exit_code
            ),
            node=func.coalesce(func.nullif(ended.c.node, ""), Job.c.node),
            reason=func.nullif(ended.c.reason, ""),
            started_at=case((started.is_not(None), func.greatest(func.least(started, func.now()), Job.c.submitted_at))),
            ended_at=func.now(),
            ran_seconds=ran_seconds(ended.c.lasted),
        )
        .returning(*(Job.c[name] for name in ("id", "cluster_id", "outcome", *USED)))
        .cte("over")
    )
    return select(over.c.id).add_cte(
        used(over).cte("used"),
        jobs_counted(over).cte("counted"),
        accounted(over).cte("accounted"),
        closing(ended).cte("closed"),
    )


def _worse(field: Column[Any]) -> ScalarSelect[Any]:
    """The field of a job's first attempt that was no success."""
    is_odd = Attempt.c.outcome != Outcome.SUCCESS
    value = select(field).where(Attempt.c.job_id == Job.c.id, is_odd).order_by(Attempt.c.position).limit(1)
    return value.correlate(Job).scalar_subquery()


def _left(attempts: Iterable[EndedAttempt]) -> Iterator[NewParcel]:
    """Of the attempts that count: those that were a success, or after which their task has failed."""
    for attempt in attempts:
        if attempt.files and (attempt.outcome is Outcome.SUCCESS or attempt.verdict.state is TaskState.FAILED):
            yield NewParcel(attempt.task_id, attempt.number, attempt.campaign_id, attempt.files, attempt.bytes)


def _end_steps(conn: Connection, cluster_id: int, jobs: Sequence[EndedJob]) -> None:
    """A prologue or epilogue that died by the grid's fault is done again."""
    part = CampaignCluster.c
    for job in jobs:
        if job.kind is JobKind.TASKS:
            continue
        if job.outcome is Outcome.SUCCESS:
            state = StepState.DONE
        else:
            state = StepState.FAILED if job.outcome in FAULT_OF_TASK | {Outcome.KILLED} else StepState.WAITING
        step = part.prologue if job.kind is JobKind.PROLOGUE else part.epilogue
        here = part.campaign_id == job.campaign_id, part.cluster_id == cluster_id
        conn.execute(transition_to(step, state, out_of=[StepState.RUNNING]).where(*here))


def _add_up(conn: Connection, cluster_id: int, attempts: Sequence[EndedAttempt]) -> None:
    done: dict[int, list[float]] = defaultdict(list)
    used: dict[int, list[TaskResourceUse]] = defaultdict(list)
    failed: Counter[int] = Counter()
    again: Counter[int] = Counter()
    peaks = {a.campaign_id: a.peak for a in sorted(attempts, key=lambda a: a.peak or 0) if a.peak}
    for attempt in attempts:
        if attempt.outcome is Outcome.SUCCESS:
            done[attempt.campaign_id].append(attempt.seconds or 0.0)
            used[attempt.campaign_id] += [attempt.used] if attempt.used else []
        elif attempt.verdict.state is TaskState.FAILED:
            failed[attempt.campaign_id] += 1
        elif attempt.verdict.state is TaskState.WAITING:
            again[attempt.campaign_id] += 1
    for campaign_id in done.keys() | failed.keys() | again.keys() | peaks.keys():
        lasted = done.get(campaign_id, [])
        parameters: dict[str, float | None] = {"campaign": campaign_id, "here": cluster_id}
        parameters |= {"failed_more": failed[campaign_id], "again_more": again[campaign_id]}
        parameters["peak_here"] = peaks.get(campaign_id)
        if lasted:
            parameters |= totals(lasted) | profile(used[campaign_id])
        conn.execute(added_up(has_done=bool(lasted)), parameters)
