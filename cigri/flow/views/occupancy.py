"""Which jobs of each campaign run and wait on a cluster, and which of them would be taken back first.
Read by: metascheduler, runner.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, bindparam, cast, func, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import values_table
from cigri.database.typed_rows import read_all
from cigri.flow.views.queued_jobs import asked
from cigri.flow.views.running_jobs import is_active
from cigri.flow.views.unwanted_jobs import may_move
from cigri.states import JobState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Job


class Occupancy(NamedTuple):
    """A campaign's jobs on a cluster: cores of those that run, cores of those that wait; `newest_job_id`: the newest of
    these.

    Those that are held, or shall be killed, do not wait; nor do those that the cluster no longer lists, nor run.
    `width`: cores of the widest that waits.
    """

    campaign_id: int
    cluster_id: int
    running: int
    waiting: int
    newest_job_id: int
    width: int = 1


class WithdrawalRange(NamedTuple):
    """Of a campaign's jobs that wait on a cluster, those older than the job `before`."""

    campaign_id: int
    cluster_id: int
    before: int


class WithdrawnJob(NamedTuple):
    """`asked`: what it asks the batch system for (views/queued_jobs.py)."""

    job_id: int
    campaign_id: int
    cluster_id: int
    width: int
    asked: int = 0


def count_waiting(conn: Connection, cluster_id: int) -> int:
    """Our jobs in the cluster's queue that have not started, or are about to be there; not those held, or missing."""
    return conn.execute(_waiting(), {"here": cluster_id}).scalar_one()


@cache
def _waiting() -> Select[int]:
    waiting = and_(Job.c.state.in_((JobState.LAUNCHING, JobState.SUBMITTED)), is_active())
    return select(func.count()).where(Job.c.cluster_id == bindparam("here"), waiting)


def list_occupancy(conn: Connection) -> list[Occupancy]:
    """One for each campaign on each cluster where a job of it runs or waits."""
    waits = _waits()
    runs = and_(Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None))
    statement = (
        select(
            Job.c.campaign_id,
            Job.c.cluster_id,
            cast(func.coalesce(func.sum(Job.c.width).filter(runs), 0), BigInteger).label("running"),
            cast(func.coalesce(func.sum(Job.c.width).filter(waits), 0), BigInteger).label("waiting"),
            func.coalesce(func.max(Job.c.id).filter(waits), 0).label("newest_job_id"),
            func.coalesce(func.max(Job.c.width).filter(waits), 1).label("width"),
        )
        .where(Job.c.state.in_((JobState.SUBMITTED, JobState.RUNNING)))
        .group_by(Job.c.campaign_id, Job.c.cluster_id)
        .order_by(Job.c.campaign_id, Job.c.cluster_id)
    )
    return read_all(conn, Occupancy, statement)


def list_withdrawable_jobs(
    conn: Connection, recalls: Sequence[WithdrawalRange], moves: int, most: int
) -> list[WithdrawnJob]:
    """At most so many jobs, the newest first; none with a task that was taken out of queues `moves` times already."""
    wanted, part = (
        values_table("wanted", dict.fromkeys(WithdrawalRange._fields, BigInteger()), recalls),
        CampaignCluster.c,
    )
    statement = (
        select(Job.c.id.label("job_id"), Job.c.campaign_id, Job.c.cluster_id, Job.c.width)
        .add_columns(func.coalesce(asked(), 0).label("asked"))
        .join(CampaignCluster, and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id))
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .outerjoin(Bucket, Bucket.c.id == Job.c.bucket_id)
        .join(wanted, and_(wanted.c.campaign_id == Job.c.campaign_id, wanted.c.cluster_id == Job.c.cluster_id))
        .where(Job.c.id < wanted.c.before, _waits(), may_move(moves))
        .order_by(Job.c.id.desc())
        .limit(most)
    )
    return read_all(conn, WithdrawnJob, statement)


def _waits() -> ColumnElement[bool]:
    """Is the job in the queue of a cluster, with nothing that keeps it from its start?"""
    dies = select(KillRequest.c.job_id).where(KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open).exists()
    return and_(Job.c.state == JobState.SUBMITTED, is_active(), ~dies)
