"""What is left undone: open events, and things that should have moved on long ago.
Read by: operator, users.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, select

from cigri.database.typed_rows import read_all
from cigri.formats.units import as_utc
from cigri.states import LIVE_JOBS, BatchState, EventLevel, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster, UserMapping
from cigri.tables.grid import Event
from cigri.tables.job_requests import KillRequest
from cigri.tables.jobs import Batch, Job

STUCK_BATCH = timedelta(minutes=10)
STUCK_KILL_TRIES = 5
STUCK_TO_LAUNCH = timedelta(hours=1)


class OpenEvent(NamedTuple):
    id: int
    code: str
    level: EventLevel
    subject: str
    message: str
    times: int
    opened_at: datetime


class UnendedJob(NamedTuple):
    """A job that has not ended, as far as we know; `is_submitted`: and that should be in the cluster's queue."""

    job_id: int
    tag: str
    array_index: int
    remote_id: str
    local_user: str
    is_submitted: bool


def count_open_events(conn: Connection) -> dict[str, int]:
    """By level's name, without levels that have none."""
    counts = conn.execute(
        select(Event.c.level, func.count().label("n")).where(Event.c.closed_at.is_(None)).group_by(Event.c.level)
    )
    return {row.level.value: row.n for row in counts}


def list_old_events(conn: Connection, age: timedelta) -> list[OpenEvent]:
    """Those that have been open for longer than `age`, the oldest first."""
    columns = (
        Event.c.id,
        Event.c.code,
        Event.c.level,
        Event.c.subject,
        Event.c.message,
        Event.c.count.label("times"),
        Event.c.opened_at,
    )
    old = select(*columns).where(Event.c.closed_at.is_(None), Event.c.opened_at < func.now() - age)
    return read_all(conn, OpenEvent, old.order_by(Event.c.opened_at))


def list_stuck(conn: Connection) -> list[str]:
    """One sentence for each thing that does not move, with its id."""
    stuck = [
        f"batch {row.id} on {row.name} has been launching since {as_utc(row.created_at)}: "
        f"the runner cannot find out whether it was submitted; try `cigri cluster test {row.name}`"
        for row in conn.execute(
            select(Batch.c.id, Batch.c.created_at, Cluster.c.name)
            .join(Cluster, Cluster.c.id == Batch.c.cluster_id)
            .where(Batch.c.state == BatchState.LAUNCHING, Batch.c.created_at < func.now() - STUCK_BATCH)
            .order_by(Batch.c.created_at)
        )
    ]
    stuck += [
        f"job {row.job_id} (remote {row.remote_id or 'unknown'}) on {row.name} was killed {row.tries} times and lives: "
        f"look at it there"
        for row in conn.execute(
            select(KillRequest.c.job_id, Job.c.remote_id, KillRequest.c.tries, Cluster.c.name)
            .join(Job, Job.c.id == KillRequest.c.job_id)
            .join(Cluster, Cluster.c.id == Job.c.cluster_id)
            .where(KillRequest.c.is_open, KillRequest.c.tries >= STUCK_KILL_TRIES)
            .order_by(KillRequest.c.job_id)
        )
    ]
    stuck += [
        f"{row.n} jobs for {row.name} have waited to be launched for more than an hour, the first is {row.first}: "
        f"is its campaign paused, or `cigri cluster show {row.name}` full?"
        for row in conn.execute(
            select(Cluster.c.name, func.count().label("n"), func.min(Job.c.id).label("first"))
            .join(Job, Job.c.cluster_id == Cluster.c.id)
            .where(Job.c.state == JobState.TO_LAUNCH, Job.c.created_at < func.now() - STUCK_TO_LAUNCH)
            .group_by(Cluster.c.name)
            .order_by(Cluster.c.name)
        )
    ]
    return stuck


def list_accounts(conn: Connection, cluster_id: int) -> list[str]:
    """Sorted: accounts that may have jobs on a cluster, by batches, mappings and campaigns, for after a restore of an
    older database what was sent may be forgotten."""
    had = select(Batch.c.local_user.label("account")).where(Batch.c.cluster_id == cluster_id)
    mapped = select(UserMapping.c.local_user).where(UserMapping.c.cluster_id == cluster_id)
    part, mapping = CampaignCluster.c, UserMapping.c
    here = and_(mapping.cluster_id == cluster_id, mapping.grid_user == Campaign.c.grid_user)
    meant = (
        select(Campaign.c.grid_user)
        .join(CampaignCluster, and_(part.campaign_id == Campaign.c.id, part.cluster_id == cluster_id))
        .outerjoin(UserMapping, here)
        .where(mapping.local_user.is_(None))
    )
    return sorted(conn.execute(had.union(mapped, meant)).scalars())


def list_known(conn: Connection, cluster_id: int) -> list[UnendedJob]:
    """The jobs of a cluster that have a batch and have not ended."""
    statement = (
        select(
            Job.c.id.label("job_id"),
            Batch.c.tag,
            Job.c.array_index,
            func.coalesce(Job.c.remote_id, "").label("remote_id"),
            Batch.c.local_user,
            Job.c.state.in_((JobState.SUBMITTED, JobState.RUNNING)).label("is_submitted"),
        )
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(Job.c.cluster_id == cluster_id, Job.c.state.in_(LIVE_JOBS))
        .order_by(Job.c.id)
    )
    return read_all(conn, UnendedJob, statement)
