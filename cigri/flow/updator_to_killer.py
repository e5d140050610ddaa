"""What the updator saw of jobs that should no longer be: too many waiting, waiting too long, past their walltime."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, Float, cast, func, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.clusters import ClusterConfig
from cigri.database import clock
from cigri.states import JobKind, JobState, StepState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Job
from cigri.tables.wishes import Halt, Kill


def list_excess(conn: Connection, cluster_id: int, config: ClusterConfig) -> list[int]:
    """Jobs waiting beyond the cluster's limit, the newest; those that are held are in nobody's way."""
    waiting = (
        _live(cluster_id, JobState.SUBMITTED)
        .where(Job.c.halted_since.is_(None))
        .order_by(Job.c.id)
        .offset(config.max_waiting)
    )
    return list(conn.scalars(waiting))


def list_waiting_too_long(conn: Connection, cluster_id: int, seconds: float, now: datetime | None = None) -> list[int]:
    """Jobs that have waited longer than `seconds` here, of campaigns that have another usable cluster to go to.

    The time for which they were held does not count.
    """
    part = CampaignCluster
    elsewhere = (
        select(part.c.campaign_id)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .where(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id != cluster_id)
        .where(part.c.blocked_until.is_(None), part.c.prologue != StepState.FAILED)
        .where(Cluster.c.is_enabled, Cluster.c.failures == 0)
        .exists()
    )
    told = select(Halt.c.job_id).where(Halt.c.job_id == Job.c.id).exists()  # or somebody else holds it
    old = Job.c.submitted_at + _seconds(Job.c.halted_seconds + seconds) <= clock(now)
    waiting = _live(cluster_id, JobState.SUBMITTED).where(old, elsewhere, ~told, Job.c.kind == JobKind.TASKS)
    return list(conn.scalars(waiting))


def list_past_walltime(conn: Connection, cluster_id: int, slack: float, now: datetime | None = None) -> list[int]:
    """Jobs that have run for longer than their walltime and `slack` seconds, not counting while they were suspended."""
    limit = _seconds(cast(Job.c.walltime, Float) + Job.c.halted_seconds + slack)
    running = _live(cluster_id, JobState.RUNNING).where(Job.c.halted_since.is_(None))
    return list(conn.scalars(running.where(Job.c.started_at + limit <= clock(now))))


def _seconds(number: ColumnElement[float]) -> ColumnElement[timedelta]:
    return func.make_interval(0, 0, 0, 0, 0, 0, number)


def _live(cluster_id: int, state: JobState) -> Select[int]:
    """Jobs in this state that nobody has asked to kill yet."""
    asked = select(Kill.c.job_id).where(Kill.c.job_id == Job.c.id, Kill.c.is_open).exists()
    return select(Job.c.id).where(Job.c.cluster_id == cluster_id, Job.c.state == state, ~asked)
