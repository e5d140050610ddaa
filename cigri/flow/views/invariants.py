"""What must always be true of the tables, and what is not.
Read by: janitor, operator, users.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, or_, select
from sqlalchemy.sql.selectable import Select

from cigri.states import LEFT_TO_DO, BatchState, CampaignState, JobKind, JobState, KillReason, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.dependencies import Dependency
from cigri.tables.grid import Event
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.parcels import Parcel
from cigri.tables.tasks import Task, TaskCount

_live = select(Attempt.c.task_id).where(Attempt.c.task_id == Task.c.id, Attempt.c.outcome.is_(None)).exists()

_counted = (
    select(
        TaskCount.c.campaign_id,
        TaskCount.c.state,
        func.sum(TaskCount.c.n).label("n"),
        func.sum(TaskCount.c.known).label("known"),
    )
    .group_by(TaskCount.c.campaign_id, TaskCount.c.state)
    .subquery()
)

_there = (
    select(Task.c.campaign_id, Task.c.state, func.count().label("n"), func.count(Task.c.expected).label("known"))
    .group_by(Task.c.campaign_id, Task.c.state)
    .subquery()
)
_of_live_job = select(Attempt.c.task_id).where(Attempt.c.job_id == Job.c.id, Attempt.c.outcome.is_(None)).exists()
_other = Attempt.alias()
_was_replicated = select(_other.c.task_id).where(_other.c.task_id == Attempt.c.task_id, _other.c.is_replica).exists()
_of_blocked_task = and_(Dependency.c.campaign_id == Task.c.campaign_id, Dependency.c.met_at.is_(None))
_waits_for_another = select(Dependency.c.id).where(_of_blocked_task).exists()

_awaited = (
    select(Parcel.c.campaign_id, Parcel.c.cluster_id, func.count().label("n"), func.sum(Parcel.c.bytes).label("bytes"))
    .where(Parcel.c.collected_at.is_(None), Parcel.c.lost_at.is_(None))
    .group_by(Parcel.c.campaign_id, Parcel.c.cluster_id)
    .subquery()
)
_is_of_share = and_(
    _awaited.c.campaign_id == CampaignCluster.c.campaign_id, _awaited.c.cluster_id == CampaignCluster.c.cluster_id
)

RULES: dict[str, Select[Any]] = {
    "an assigned task has a live attempt": select(Task.c.id).where(Task.c.state == TaskState.ASSIGNED, ~_live),
    "only assigned tasks, and losers, have live attempts": (
        select(Attempt.c.task_id)
        .join(Task, Task.c.id == Attempt.c.task_id)
        .where(Attempt.c.outcome.is_(None), Task.c.state != TaskState.ASSIGNED, ~_was_replicated)
    ),
    "a live attempt has a live job": (
        select(Attempt.c.task_id)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .where(Attempt.c.outcome.is_(None), Job.c.state == JobState.ENDED)
    ),
    "a live job has a live attempt": (
        select(Job.c.id).where(Job.c.state != JobState.ENDED, Job.c.kind == JobKind.TASKS, ~_of_live_job)
    ),
    "a submitted job has a submitted batch": (
        select(Job.c.id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(Job.c.state.in_((JobState.SUBMITTED, JobState.RUNNING)), Batch.c.state != BatchState.SUBMITTED)
    ),
    "a batch has as many jobs as its size": (
        select(Batch.c.id)
        .outerjoin(Job, Job.c.batch_id == Batch.c.id)
        .group_by(Batch.c.id)
        .having(func.count(Job.c.id) != Batch.c.size)
    ),
    "the counts of tasks are those of the tasks": (
        select(func.coalesce(_counted.c.campaign_id, _there.c.campaign_id))
        .select_from(_counted)
        .join(
            _there,
            and_(_counted.c.campaign_id == _there.c.campaign_id, _counted.c.state == _there.c.state),
            full=True,
        )
        .where(
            or_(*(func.coalesce(_counted.c[name], 0) != func.coalesce(_there.c[name], 0) for name in ("n", "known")))
        )
        .where(
            ~select(Campaign.c.id)
            .where(
                Campaign.c.id == func.coalesce(_counted.c.campaign_id, _there.c.campaign_id),
                Campaign.c.archived_at.is_not(None),
            )
            .exists()
        )
    ),
    "an ended campaign has no task left to do": (
        select(Task.c.id)
        .join(Campaign, Campaign.c.id == Task.c.campaign_id)
        .where(
            or_(
                and_(
                    Campaign.c.state == CampaignState.TERMINATED,
                    Task.c.state.in_(LEFT_TO_DO),
                ),
                and_(
                    Campaign.c.state == CampaignState.CANCELLED,
                    Task.c.state.in_((TaskState.BLOCKED, TaskState.WAITING)),
                ),
            )
        )
    ),
    "outputs are counted as they are awaited, and an ended campaign awaits none": (
        select(CampaignCluster.c.campaign_id)
        .join(Campaign, Campaign.c.id == CampaignCluster.c.campaign_id)
        .outerjoin(_awaited, _is_of_share)
        .where(Campaign.c.archived_at.is_(None))
        .where(
            or_(
                CampaignCluster.c.uncollected != func.coalesce(_awaited.c.n, 0),
                CampaignCluster.c.uncollected_bytes != func.coalesce(_awaited.c.bytes, 0),
                and_(Campaign.c.state == CampaignState.TERMINATED, CampaignCluster.c.uncollected > 0),
            )
        )
    ),
    "a task is blocked only while its campaign waits for another": (
        select(Task.c.id).where(Task.c.state == TaskState.BLOCKED, ~_waits_for_another)
    ),
    "an ended job is not to be killed, unless its cluster lists it again": (
        select(KillRequest.c.job_id)
        .join(Job, Job.c.id == KillRequest.c.job_id)
        .where(KillRequest.c.is_open, KillRequest.c.reason != KillReason.LISTED_AGAIN, Job.c.state == JobState.ENDED)
    ),
}


BROKEN_PROMISE = "INVARIANT"
"""The code of an event about a rule that the janitor found broken."""


class BrokenInvariant(NamedTuple):
    """A rule that does not hold, how often, and examples of what breaks it."""

    rule: str
    times: int
    examples: Sequence[int]

    def __str__(self) -> str:
        return f"{self.rule}: {self.times} times, e.g. {', '.join(map(str, self.examples))}"


def examine(conn: Connection) -> list[BrokenInvariant]:
    """Every rule that does not hold; one consistent view of the tables is the caller's transaction."""
    return [finding for rule, broken in RULES.items() if (finding := _look(conn, rule, broken))]


def list_broken_promises(conn: Connection) -> list[str]:
    """As the janitor last found them, which looks at every task."""
    is_open = Event.c.code == BROKEN_PROMISE, Event.c.closed_at.is_(None)
    return list(conn.scalars(select(Event.c.message).where(*is_open).order_by(Event.c.subject)))


def _look(conn: Connection, rule: str, broken: Select[Any]) -> BrokenInvariant | None:
    examples = list(conn.scalars(broken.limit(5)))
    if not examples:
        return None
    count = conn.execute(select(func.count()).select_from(broken.subquery())).scalar_one()
    return BrokenInvariant(rule, count, examples)
