"""What anyone has left undone: open events, and things that should have moved on long ago; the doctor reads them."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from cigri.database import clock
from cigri.states import BatchState, EventLevel, JobState
from cigri.tables import Batch, Cluster, Event, Job, Kill

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


def count_open_events(conn: Connection) -> dict[str, int]:
    """By level."""
    found = conn.execute(
        select(Event.level, func.count().label("n")).where(Event.closed_at.is_(None)).group_by(Event.level)
    )
    return {row.level.value: row.n for row in found}


def list_old_events(conn: Connection, age: timedelta, now: datetime | None = None) -> list[OpenEvent]:
    """Open for longer than `age`, the oldest first."""
    columns = (Event.id, Event.code, Event.level, Event.subject, Event.message, Event.count, Event.opened_at)
    old = select(*columns).where(Event.closed_at.is_(None), Event.opened_at < clock(now) - age)
    return [OpenEvent._make(row) for row in conn.execute(old.order_by(Event.opened_at))]


def list_stuck(conn: Connection, now: datetime | None = None) -> list[str]:
    """One sentence for each thing that does not move, with its id."""
    stuck = [
        f"batch {row.id} on {row.name} has been launching since {row.created_at:%Y-%m-%d %H:%M} UTC: "
        f"the runner cannot find out whether it was submitted; try `cigri cluster test {row.name}`"
        for row in conn.execute(
            select(Batch.id, Batch.created_at, Cluster.name)
            .join(Cluster, Cluster.id == Batch.cluster_id)
            .where(Batch.state == BatchState.LAUNCHING, Batch.created_at < clock(now) - STUCK_BATCH)
            .order_by(Batch.id)
        )
    ]
    stuck += [
        f"job {row.job_id} (remote {row.remote_id or 'unknown'}) on {row.name} was killed {row.tries} times and lives: "
        f"look at it there"
        for row in conn.execute(
            select(Kill.job_id, Job.remote_id, Kill.tries, Cluster.name)
            .join(Job, Job.id == Kill.job_id)
            .join(Cluster, Cluster.id == Job.cluster_id)
            .where(Kill.is_open, Kill.tries >= STUCK_KILL_TRIES)
            .order_by(Kill.job_id)
        )
    ]
    stuck += [
        f"{row.n} jobs for {row.name} have waited to be launched for more than an hour, the first is {row.first}: "
        f"is its campaign paused, or `cigri cluster show {row.name}` full?"
        for row in conn.execute(
            select(Cluster.name, func.count().label("n"), func.min(Job.id).label("first"))
            .join(Job, Job.cluster_id == Cluster.id)
            .where(Job.state == JobState.TO_LAUNCH, Job.created_at < clock(now) - STUCK_TO_LAUNCH)
            .group_by(Cluster.name)
            .order_by(Cluster.name)
        )
    ]
    return stuck
