"""The archive: campaigns that leave the hot tables or the clusters' disks, history and events past keeping.
Given by: janitor, users; taken by: janitor.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import ARRAY, BigInteger, Connection, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import wake
from cigri.database.typed_rows import read_all
from cigri.errors import NotFound
from cigri.flow.accounting import archived
from cigri.flow.campaigns import own_campaign
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.fair_share_usage import USED
from cigri.flow.parcels import forget_awaited
from cigri.flow.stored_outputs import forget_stored_outputs
from cigri.identity.callers import Caller
from cigri.states import OPEN_CAMPAIGNS, CampaignState, EventLevel, JobState, Outcome
from cigri.tables.campaigns import Bucket, Campaign, Completion, ForecastHistory
from cigri.tables.clusters import ClusterUsage
from cigri.tables.grid import Event
from cigri.tables.inputs import TaskInput, TaskPlace
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.pools import BucketPool, SubmitPool
from cigri.tables.tasks import LastDuration, Task, TaskCount, TaskHistory

PURGE = "PURGE"


class LeftoverFiles(NamedTuple):
    """Files of an ended campaign on a cluster, in the home of `local_user`: of all its batches there."""

    campaign_id: int
    cluster_id: int
    local_user: str
    batch_ids: list[int]


def list_leftovers(conn: Connection, days: float) -> list[LeftoverFiles]:
    """Of campaigns without live jobs that ended more than `days` ago, or whose owner wants their files gone."""
    asked = select(Event.c.id).where(
        Event.c.code == PURGE, Event.c.campaign_id == Campaign.c.id, Event.c.closed_at.is_(None)
    )
    statement = (
        select(
            Batch.c.campaign_id,
            Batch.c.cluster_id,
            Batch.c.local_user,
            func.array_agg(Batch.c.id, type_=ARRAY(BigInteger)).label("batch_ids"),
        )
        .group_by(Batch.c.campaign_id, Batch.c.cluster_id, Batch.c.local_user)
        .join(Campaign, Campaign.c.id == Batch.c.campaign_id)
        .where(
            Campaign.c.state.in_((CampaignState.TERMINATED, CampaignState.CANCELLED)),
            Campaign.c.purged_at.is_(None),
            or_(Campaign.c.ended_at < func.now() - timedelta(days=days), asked.exists()),
            ~_has_live_jobs(),
        )
        .order_by(Batch.c.campaign_id)
    )
    return read_all(conn, LeftoverFiles, statement)


def put_purged(conn: Connection, campaign_ids: Sequence[int]) -> None:
    """Note that the files of these campaigns are gone from all clusters; the wish for that is closed."""
    forget_awaited(conn, campaign_ids)
    forget_stored_outputs(conn, campaign_ids)
    conn.execute(update(Campaign).where(Campaign.c.id.in_(campaign_ids)).values(purged_at=func.now()))
    close_events(conn, [PURGE], [f"campaign {campaign_id}" for campaign_id in campaign_ids], "janitor")


def list_old_campaigns(conn: Connection, days: float) -> list[int]:
    """Campaigns that ended more than `days` ago, whose files are gone, and that are still in the hot tables."""
    files = select(Batch.c.id).where(Batch.c.campaign_id == Campaign.c.id, Campaign.c.purged_at.is_(None))
    old = select(Campaign.c.id).where(
        Campaign.c.state.in_((CampaignState.TERMINATED, CampaignState.CANCELLED)),
        Campaign.c.archived_at.is_(None),
        Campaign.c.ended_at < func.now() - timedelta(days=days),
        ~files.exists(),
        ~_has_live_jobs(),
    )
    return list(conn.scalars(old.order_by(Campaign.c.id)))


def archive_campaign(conn: Connection, campaign_id: int) -> int:
    """Keep one row per task, with the attempt that was a success, or the last, and what accounting has of its jobs.

    Remove tasks, jobs and batches.
    Give the number of tasks.
    """
    last = (
        select(
            Attempt.c.task_id,
            Attempt.c.exit_code,
            Attempt.c.started_at,
            Attempt.c.seconds,
            Job.c.cluster_id,
            Job.c.node,
        )
        .ext(distinct_on(Attempt.c.task_id))
        .join(Job, Job.c.id == Attempt.c.job_id)
        .where(Job.c.campaign_id == campaign_id)
        .order_by(Attempt.c.task_id, Attempt.c.outcome == Outcome.SUPERSEDED, Attempt.c.number.desc())
        .subquery()
    )
    names = ["campaign_id", "number", "parameter", "state", "attempts"]
    names += ["cluster_id", "exit_code", "started_at", "seconds", "node"]
    chosen = (
        select(
            *(Task.c[name] for name in names[:5]),
            *(last.c[name] for name in names[5:]),
        )
        .outerjoin(last, last.c.task_id == Task.c.id)
        .where(Task.c.campaign_id == campaign_id)
    )
    conn.execute(insert(TaskHistory).from_select(names, chosen))
    gone = conn.execute(
        select(func.count()).select_from(TaskHistory).where(TaskHistory.c.campaign_id == campaign_id)
    ).scalar_one()
    _remove_jobs(conn, campaign_id)
    for table in (Batch, Bucket, Completion, TaskPlace, TaskInput):
        conn.execute(delete(table).where(table.c.campaign_id == campaign_id))
    conn.execute(delete(TaskCount).where(TaskCount.c.campaign_id == campaign_id))
    kept = select(TaskHistory.c.campaign_id, TaskHistory.c.state, func.count()).where(
        TaskHistory.c.campaign_id == campaign_id
    )
    conn.execute(
        insert(TaskCount).from_select(
            ["campaign_id", "state", "n"], kept.group_by(TaskHistory.c.campaign_id, TaskHistory.c.state)
        )
    )
    conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(archived_at=func.now()))
    return gone


def _remove_jobs(conn: Connection, campaign_id: int) -> None:
    columns = [Job.c[name] for name in ("id", "cluster_id", "outcome", *USED)]
    gone = delete(Job).where(Job.c.campaign_id == campaign_id).returning(*columns).cte("gone")
    conn.execute(archived(gone))


def forget(conn: Connection, usage_days: float, event_days: float) -> int:
    """Delete history of clusters and forecasts older than `usage_days`, and events closed before `event_days`; give the
    number of rows."""
    usage = conn.execute(
        delete(ClusterUsage)
        .where(ClusterUsage.c.at < func.now() - timedelta(days=usage_days))
        .returning(ClusterUsage.c.cluster_id)
    ).all()
    events = conn.execute(
        delete(Event).where(Event.c.closed_at < func.now() - timedelta(days=event_days)).returning(Event.c.id)
    ).all()
    forecasts = conn.execute(
        delete(ForecastHistory)
        .where(ForecastHistory.c.at < func.now() - timedelta(days=usage_days))
        .returning(ForecastHistory.c.id)
    ).all()
    return len(usage) + len(events) + len(forecasts)


def forget_pools(conn: Connection, days: float) -> int:
    """Delete submit pools that no open campaign has used for so long, and give their number.

    A campaign that is opened again later gets its pools again.
    """
    used = (
        select(BucketPool.c.pool_id)
        .join(Bucket, Bucket.c.id == BucketPool.c.bucket_id)
        .join(Campaign, and_(Campaign.c.id == Bucket.c.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(BucketPool.c.pool_id == SubmitPool.c.id)
    )
    conn.execute(update(SubmitPool).where(used.exists()).values(last_used_at=func.now()))
    old = SubmitPool.c.last_used_at < func.now() - timedelta(days=days)
    gone = conn.execute(delete(SubmitPool).where(old, ~used.exists()).returning(SubmitPool.c.id))
    return len(gone.all())


def forget_durations(conn: Connection, most: int) -> int:
    """Of the durations of tasks keep the latest `most`, and those of the same moment; give the number deleted."""
    number = conn.scalar(select(func.count()).select_from(LastDuration)) or 0
    if number <= most:
        return 0
    at = LastDuration.c.at
    gone = delete(LastDuration)
    if most:
        last = select(at).order_by(at.desc()).offset(most - 1).limit(1).scalar_subquery()
        gone = gone.where(at < last)
    return conn.execute(gone).rowcount


def _has_live_jobs() -> ColumnElement[bool]:
    return select(Job.c.id).where(and_(Job.c.campaign_id == Campaign.c.id, Job.c.state != JobState.ENDED)).exists()


def forget_campaign(conn: Connection, campaign_id: int, caller: Caller) -> None:
    """Leave an ended campaign of the caller's out of lists from now on; what it has used still counts.

    Raise NotFound where it has not ended. It is listed again when more is to be done of it.
    """
    _require_ended(conn, campaign_id, caller, "forgotten")
    one = Campaign.c.id == campaign_id
    conn.execute(update(Campaign).where(one, Campaign.c.forgotten_at.is_(None)).values(forgotten_at=func.now()))


def _require_ended(conn: Connection, campaign_id: int, caller: Caller, done: str) -> None:
    """Raise NotFound unless the campaign is the caller's and has ended, and so can be `done`."""
    state = own_campaign(conn, campaign_id, caller)
    if state in OPEN_CAMPAIGNS:
        word = state.replace("_", " ")
        raise NotFound(f"campaign {campaign_id} is {word}: only a campaign that has ended can be {done}")


def purge_campaign(conn: Connection, campaign_id: int, caller: Caller) -> bool:
    """Let the janitor remove the campaign's files from the clusters at its next pass; it must have ended.

    False when it has no files there: none were ever written, or they are gone already.
    """
    _require_ended(conn, campaign_id, caller, "purged")
    written = select(Batch.c.id).where(Batch.c.campaign_id == campaign_id).exists()
    if not conn.scalar(select(written).where(Campaign.c.id == campaign_id, Campaign.c.purged_at.is_(None))):
        return False
    subject = f"campaign {campaign_id}"
    put_events(conn, [NewEvent(PURGE, EventLevel.WARNING, subject, f"purge asked by {caller.user}", campaign_id)])
    wake(conn)
    return True
