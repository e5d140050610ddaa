"""What has become old: campaigns to leave the hot tables or the clusters' disks, history and events past keeping."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import clock
from cigri.flow.anyone_to_operator import close_events
from cigri.states import CampaignState, JobState
from cigri.tables import (
    Attempt,
    Batch,
    Bucket,
    Campaign,
    ClusterUsage,
    Completion,
    Event,
    ForecastHistory,
    Job,
    Task,
    TaskCount,
    TaskHistory,
)

PURGE = "PURGE"


class Leftover(NamedTuple):
    """Files of an ended campaign on a cluster, in the home of `local_user`."""

    campaign_id: int
    cluster_id: int
    local_user: str


def list_leftovers(conn: Connection, days: float, now: datetime | None = None) -> list[Leftover]:
    """Of campaigns that ended more than `days` ago, or whose owner asked for it."""
    asked = select(Event.id).where(Event.code == PURGE, Event.campaign_id == Campaign.id, Event.closed_at.is_(None))
    found = conn.execute(
        select(Batch.campaign_id, Batch.cluster_id, Batch.local_user)
        .distinct()
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(
            Campaign.state.in_((CampaignState.TERMINATED, CampaignState.CANCELLED)),
            Campaign.purged_at.is_(None),
            or_(Campaign.ended_at < clock(now) - timedelta(days=days), asked.exists()),
            ~_has_live_jobs(),
        )
        .order_by(Batch.campaign_id)
    )
    return [Leftover._make(row) for row in found]


def put_purged(conn: Connection, campaign_ids: Sequence[int], now: datetime | None = None) -> None:
    """Their files are gone from all clusters."""
    conn.execute(update(Campaign).where(Campaign.id.in_(campaign_ids)).values(purged_at=clock(now)))
    close_events(conn, [PURGE], [f"campaign {campaign_id}" for campaign_id in campaign_ids], "janitor", now)


def list_old_campaigns(conn: Connection, days: float, now: datetime | None = None) -> list[int]:
    """Campaigns that ended more than `days` ago, whose files are gone, and that are still in the hot tables."""
    files = select(Batch.id).where(Batch.campaign_id == Campaign.id, Campaign.purged_at.is_(None))
    old = select(Campaign.id).where(
        Campaign.state.in_((CampaignState.TERMINATED, CampaignState.CANCELLED)),
        Campaign.archived_at.is_(None),
        Campaign.ended_at < clock(now) - timedelta(days=days),
        ~files.exists(),
        ~_has_live_jobs(),
    )
    return list(conn.scalars(old.order_by(Campaign.id)))


def archive_campaign(conn: Connection, campaign_id: int, now: datetime | None = None) -> int:
    """Keep one row per task, with its last attempt; remove tasks, jobs and batches. Give the number of tasks."""
    last = (
        select(Attempt.task_id, Attempt.exit_code, Attempt.started_at, Attempt.seconds, Job.cluster_id, Job.node)
        .ext(distinct_on(Attempt.task_id))
        .join(Job, Job.id == Attempt.job_id)
        .where(Job.campaign_id == campaign_id)
        .order_by(Attempt.task_id, Attempt.number.desc())
        .subquery()
    )
    names = ["campaign_id", "number", "parameter", "state", "attempts"]
    names += ["cluster_id", "exit_code", "started_at", "seconds", "node"]
    chosen = (
        select(
            *(getattr(Task, name) for name in names[:5]),
            *(last.c[name] for name in names[5:]),
        )
        .outerjoin(last, last.c.task_id == Task.id)
        .where(Task.campaign_id == campaign_id)
    )
    conn.execute(insert(TaskHistory).from_select(names, chosen))
    gone = conn.execute(
        select(func.count()).select_from(TaskHistory).where(TaskHistory.campaign_id == campaign_id)
    ).scalar_one()
    for table in (Job, Batch, Bucket, Completion):
        conn.execute(delete(table).where(table.campaign_id == campaign_id))
    conn.execute(delete(TaskCount).where(TaskCount.campaign_id == campaign_id))
    kept = select(TaskHistory.campaign_id, TaskHistory.state, func.count()).where(
        TaskHistory.campaign_id == campaign_id
    )
    conn.execute(
        insert(TaskCount).from_select(
            ["campaign_id", "state", "n"], kept.group_by(TaskHistory.campaign_id, TaskHistory.state)
        )
    )
    conn.execute(update(Campaign).where(Campaign.id == campaign_id).values(archived_at=clock(now)))
    return gone


def forget(conn: Connection, usage_days: float, event_days: float, now: datetime | None = None) -> int:
    """Delete what is older than it need be; give the number of rows."""
    usage = conn.execute(
        delete(ClusterUsage)
        .where(ClusterUsage.at < clock(now) - timedelta(days=usage_days))
        .returning(ClusterUsage.cluster_id)
    ).all()
    events = conn.execute(
        delete(Event).where(Event.closed_at < clock(now) - timedelta(days=event_days)).returning(Event.id)
    ).all()
    forecasts = conn.execute(
        delete(ForecastHistory)
        .where(ForecastHistory.at < clock(now) - timedelta(days=usage_days))
        .returning(ForecastHistory.id)
    ).all()
    return len(usage) + len(events) + len(forecasts)


def _has_live_jobs() -> ColumnElement[bool]:
    return select(Job.id).where(and_(Job.campaign_id == Campaign.id, Job.state != JobState.ENDED)).exists()
