"""The jobs that run, as everybody needs them who asks the cluster about them: where their files are, and since when."""

from typing import NamedTuple

from sqlalchemy import Connection, Float, and_, cast, exists, extract, func, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.jobfeatures import Running
from cigri.states import JobState
from cigri.tables.campaigns import Campaign, Forecast
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.wishes import Kill, Shutdown
from cigri.wrapper import JobKey


class RunningJob(NamedTuple):
    """A running job, its files and the account that can read them; `told` is the shutdown it knows of, in seconds."""

    job: Running
    key: JobKey
    local_user: str
    told: float | None


def is_there() -> ColumnElement[bool]:
    """Neither held, nor suspended, nor missing at the last visit of its cluster: no other live job waits for cores."""
    return and_(Job.c.halted_since.is_(None), Job.c.missing_since.is_(None))


def list_running(conn: Connection, *, cluster_id: int | None = None, job_id: int | None = None) -> list[RunningJob]:
    """Running jobs of a cluster that nobody has asked to kill yet, or this one job."""
    last_end = (
        select(func.max(extract("epoch", Attempt.c.started_at) + Attempt.c.seconds))
        .where(Attempt.c.job_id == Job.c.id, Attempt.c.outcome.is_not(None))
        .scalar_subquery()
    )
    started = cast(extract("epoch", Job.c.started_at), Float)
    statement = (
        select(
            Job.c.id,
            Campaign.c.grid_user,
            Job.c.width,
            cast(func.greatest(started, last_end), Float),
            Forecast.c.mean,
            started + Job.c.walltime + Job.c.halted_seconds,
            Job.c.campaign_id,
            Batch.c.id,
            Job.c.array_index,
            Batch.c.local_user,
            cast(extract("epoch", Shutdown.c.at), Float),
        )
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == Job.c.campaign_id, Forecast.c.cluster_id == Job.c.cluster_id)
        )
        .outerjoin(Shutdown, Shutdown.c.job_id == Job.c.id)
        .where(Job.c.state == JobState.RUNNING)
        .order_by(Job.c.id)
    )
    if job_id is not None:
        statement = statement.where(Job.c.id == job_id)
    if cluster_id is not None:
        is_dying = exists().where(Kill.c.job_id == Job.c.id, Kill.c.is_open)
        statement = statement.where(Job.c.cluster_id == cluster_id, ~is_dying)
    found = []
    for row in conn.execute(statement):
        id, user, width, begun, mean, limit, campaign_id, batch_id, index, local_user, told = row
        job = Running(id, user, width, begun, mean, limit)
        found.append(RunningJob(job, JobKey(campaign_id, batch_id, index or 0), local_user, told))
    return found
