"""The doctor checks what must always be true of the tables, and says what is not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, or_, select
from sqlalchemy.sql.selectable import Select

from cigri.states import BatchState, CampaignState, JobKind, JobState, TaskState
from cigri.tables import Attempt, Batch, Campaign, Job, Kill, Task, TaskCount


class Finding(NamedTuple):
    """A rule that does not hold, how often, and examples of what breaks it."""

    rule: str
    times: int
    examples: Sequence[int]

    def __str__(self) -> str:
        return f"{self.rule}: {self.times} times, e.g. {', '.join(map(str, self.examples))}"


def examine(conn: Connection) -> list[Finding]:
    """Every rule that does not hold; one consistent view of the tables is the caller's transaction."""
    return [finding for rule, broken in RULES.items() if (finding := _look(conn, rule, broken))]


def _look(conn: Connection, rule: str, broken: Select[Any]) -> Finding | None:
    examples = list(conn.scalars(broken.limit(5)))
    if not examples:
        return None
    count = conn.execute(select(func.count()).select_from(broken.subquery())).scalar_one()
    return Finding(rule, count, examples)


_live = select(Attempt.task_id).where(Attempt.task_id == Task.id, Attempt.outcome.is_(None)).exists()
_counted = (
    select(TaskCount.campaign_id, TaskCount.state, func.sum(TaskCount.n).label("n"))
    .group_by(TaskCount.campaign_id, TaskCount.state)
    .subquery()
)
_there = select(Task.campaign_id, Task.state, func.count().label("n")).group_by(Task.campaign_id, Task.state).subquery()
_of_live_job = select(Attempt.task_id).where(Attempt.job_id == Job.id, Attempt.outcome.is_(None)).exists()

RULES: dict[str, Select[Any]] = {
    "an assigned task has a live attempt": select(Task.id).where(Task.state == TaskState.ASSIGNED, ~_live),
    "only an assigned task has a live attempt": (
        select(Attempt.task_id)
        .join(Task, Task.id == Attempt.task_id)
        .where(Attempt.outcome.is_(None), Task.state != TaskState.ASSIGNED, ~Attempt.is_replica)
    ),
    "a live attempt has a live job": (
        select(Attempt.task_id)
        .join(Job, Job.id == Attempt.job_id)
        .where(Attempt.outcome.is_(None), Job.state == JobState.ENDED)
    ),
    "a live job has a live attempt": (
        select(Job.id).where(Job.state != JobState.ENDED, Job.kind == JobKind.TASKS, ~_of_live_job)
    ),
    "a submitted job has a submitted batch": (
        select(Job.id)
        .join(Batch, Batch.id == Job.batch_id)
        .where(Job.state.in_((JobState.SUBMITTED, JobState.RUNNING)), Batch.state != BatchState.SUBMITTED)
    ),
    "a batch has as many jobs as its size": (
        select(Batch.id)
        .outerjoin(Job, Job.batch_id == Batch.id)
        .group_by(Batch.id)
        .having(func.count(Job.id) != Batch.size)
    ),
    "the counts of tasks are those of the tasks": (
        select(func.coalesce(_counted.c.campaign_id, _there.c.campaign_id))
        .select_from(_counted)
        .join(
            _there,
            and_(_counted.c.campaign_id == _there.c.campaign_id, _counted.c.state == _there.c.state),
            full=True,
        )
        .where(func.coalesce(_counted.c.n, 0) != func.coalesce(_there.c.n, 0))
        .where(
            ~select(Campaign.id)
            .where(
                Campaign.id == func.coalesce(_counted.c.campaign_id, _there.c.campaign_id),
                Campaign.archived_at.is_not(None),
            )
            .exists()
        )
    ),
    "an ended campaign has no task left to do": (
        select(Task.id)
        .join(Campaign, Campaign.id == Task.campaign_id)
        .where(
            or_(
                and_(
                    Campaign.state == CampaignState.TERMINATED, Task.state.in_((TaskState.WAITING, TaskState.ASSIGNED))
                ),
                and_(Campaign.state == CampaignState.CANCELLED, Task.state == TaskState.WAITING),
            )
        )
    ),
    "an ended job is not to be killed": (
        select(Kill.job_id).join(Job, Job.id == Kill.job_id).where(Kill.is_open, Job.state == JobState.ENDED)
    ),
}
