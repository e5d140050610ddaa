"""Live attempts at the last tasks of a campaign, which may last too long.
Read by: campaign schedulers.
"""

from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, case, cast, func, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement

from cigri.database.typed_rows import read_all
from cigri.states import JobKind, JobState, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task


class Straggler(NamedTuple):
    """A live attempt at a task that is not done; `attempts` have been begun at it so far.

    It has run for `run_seconds` seconds, or (None) waits to run; its job was made `wait_seconds` seconds ago, None: not
    sent yet. It comes after `tasks_ahead` others of its job. `is_cluster_unreachable`: its cluster does not answer.
    `expected`: seconds that the task takes at speed 1, if it ran before.
    """

    task_id: int
    bucket_id: int
    attempts: int
    cluster_id: int
    is_replica: bool
    run_seconds: float | None
    wait_seconds: float | None
    tasks_ahead: int
    is_cluster_unreachable: bool
    expected: float | None = None


def list_stragglers(conn: Connection, campaign_id: int, limit: int) -> list[Straggler]:
    """At most `limit` live attempts at tasks of the campaign: replicas, then those of the oldest jobs."""
    is_of_campaign = and_(Job.c.campaign_id == campaign_id, Job.c.state != JobState.ENDED, Job.c.kind == JobKind.TASKS)
    part, side = CampaignCluster, func.greatest(Job.c.width // CampaignCluster.c.width, 1)
    over = (
        select(Attempt.c.job_id, func.sum(Attempt.c.seconds).label("seconds"))
        .join(Job, Job.c.id == Attempt.c.job_id)
        .where(is_of_campaign, Attempt.c.outcome.is_not(None))
        .group_by(Attempt.c.job_id)
        .subquery()
    )
    place = func.row_number().over(partition_by=Attempt.c.job_id, order_by=Attempt.c.position)
    ahead = cast((place - 1) // side, BigInteger)
    spent = Job.c.halted_seconds + func.coalesce(over.c.seconds, 0.0) / side
    ran = case((ahead == 0, func.greatest(_age(Job.c.started_at) - spent, 0.0)), else_=0.0)
    statement = (
        select(
            Attempt.c.task_id,
            Task.c.bucket_id,
            Task.c.attempts,
            Job.c.cluster_id,
            Attempt.c.is_replica,
            case((Job.c.started_at.is_not(None), ran)).label("run_seconds"),
            case((Job.c.state != JobState.TO_LAUNCH, _age(Job.c.created_at))).label("wait_seconds"),
            ahead.label("tasks_ahead"),
            (Cluster.c.failures > 0).label("is_cluster_unreachable"),
            Task.c.expected,
        )
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(Task, Task.c.id == Attempt.c.task_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .join(part, and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id))
        .outerjoin(over, over.c.job_id == Job.c.id)
        .where(is_of_campaign, Attempt.c.outcome.is_(None), Task.c.state == TaskState.ASSIGNED)
        .order_by(Attempt.c.is_replica.desc(), Job.c.id, Attempt.c.position)
        .limit(limit)
    )
    return read_all(conn, Straggler, statement)


def sum_wasted_core_seconds(conn: Connection, campaign_id: int) -> float:
    """Core-seconds that the replicas of a campaign have run, those that run now so far."""
    part = CampaignCluster
    so_far = case((Job.c.state != JobState.ENDED, func.extract("epoch", func.now() - Job.c.started_at)))
    ran = func.coalesce(Attempt.c.seconds, Job.c.ran_seconds, so_far, 0.0)
    total = (
        select(cast(func.coalesce(func.sum(func.greatest(ran, 0.0) * part.c.width), 0.0), DOUBLE_PRECISION))
        .select_from(Attempt)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(part, and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id))
        .where(Attempt.c.is_replica, Job.c.campaign_id == campaign_id)
    )
    return float(conn.execute(total).scalar_one())


def _age(moment: ColumnElement[Any]) -> ColumnElement[float]:
    return cast(func.extract("epoch", func.now() - moment), DOUBLE_PRECISION)
