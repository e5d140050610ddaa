"""Running jobs, for those who ask the cluster about them: where their files are, and since when they run.
Read by: campaign schedulers, killer, metascheduler, runner, users.
"""

from typing import Any, NamedTuple

from sqlalchemy import Connection, Float, Row, and_, cast, exists, extract, func, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.states import JobState
from cigri.tables.campaigns import Campaign, CampaignCluster, Forecast
from cigri.tables.job_requests import KillRequest, ShutdownNotice
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.wrapper import JobKey
from cigri.wrapper.termination_cost import AssessedJob


class RunningJob(NamedTuple):
    """A running job, its files and the account that can read them.

    `told`: the shutdown it knows of, in seconds; `machine_told`: that of its machine, which may be the same.
    """

    job: AssessedJob
    key: JobKey
    local_user: str
    told: float | None
    machine_told: float | None
    node: str


def is_active() -> ColumnElement[bool]:
    """Neither held, nor suspended, nor missing at the last visit of its cluster: no other live job waits for cores."""
    return and_(Job.c.halted_since.is_(None), Job.c.missing_since.is_(None))


def list_running(conn: Connection, *, cluster_id: int | None = None, job_id: int | None = None) -> list[RunningJob]:
    """Running jobs of a cluster that nobody has asked to kill yet, or this one job."""
    part, is_carried = CampaignCluster, Attempt.c.job_id == Job.c.id
    side = func.greatest(Job.c.width // part.c.width, 1)
    end = cast(extract("epoch", Attempt.c.started_at) + Attempt.c.seconds + Attempt.c.halted_seconds, Float)
    ends = select(end).where(is_carried, end.is_not(None)).order_by(end.desc()).limit(side).correlate(Job, part)
    left = select(func.count()).where(is_carried, Attempt.c.outcome.is_(None)).scalar_subquery()
    started = cast(extract("epoch", Job.c.started_at), Float)
    statement = (
        select(
            Job.c.id,
            Campaign.c.grid_user,
            Job.c.width,
            func.array(ends.scalar_subquery()).label("ends"),
            started.label("started"),
            side.label("side"),
            left.label("left"),
            Forecast.c.mean,
            (started + Job.c.walltime + Job.c.halted_seconds).label("limit"),
            Job.c.campaign_id,
            Job.c.batch_id,
            func.coalesce(Job.c.array_index, 0).label("array_index"),
            Batch.c.local_user,
            cast(extract("epoch", ShutdownNotice.c.at), Float).label("machine_told"),
            ShutdownNotice.c.machine_only,
            func.coalesce(Job.c.node, "").label("node"),
        )
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .join(part, and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id))
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == Job.c.campaign_id, Forecast.c.cluster_id == Job.c.cluster_id)
        )
        .outerjoin(ShutdownNotice, ShutdownNotice.c.job_id == Job.c.id)
        .where(Job.c.state == JobState.RUNNING)
        .order_by(Job.c.id)
    )
    if job_id is not None:
        statement = statement.where(Job.c.id == job_id)
    if cluster_id is not None:
        is_dying = exists().where(KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open)
        statement = statement.where(Job.c.cluster_id == cluster_id, ~is_dying)
    return [_running(row) for row in conn.execute(statement)]


def _running(row: Row[Any]) -> RunningJob:
    """Whenever a task has ended another one has begun, as long as there are any."""
    now_running = min(row.side, row.left)
    begun = sorted(max(time, row.started) for time in [*row.ends, *[row.started] * row.side])
    starts = tuple(begun[-now_running:]) if now_running else ()
    job = AssessedJob(row.id, row.grid_user, row.width, starts, row.mean, row.limit, row.side)
    key = JobKey(row.campaign_id, row.batch_id, row.array_index)
    shutdown = None if row.machine_only else row.machine_told
    return RunningJob(job, key, row.local_user, shutdown, row.machine_told, row.node)
