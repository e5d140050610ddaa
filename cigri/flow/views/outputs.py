"""Where the outputs of tasks lie that have ended: those of the attempt that was a success, or else of the last.
Read by: portal, users.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, case, func, select
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import id_list
from cigri.database.typed_rows import read_all
from cigri.flow.views.jobs import RESULTS
from cigri.states import TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.parcels import Parcel
from cigri.tables.tasks import Task

ENDED_TASKS = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)


class OutputLocation(NamedTuple):
    """Of one task."""

    number: int
    attempt: int
    state: TaskState
    cluster: str
    local_user: str
    batch_id: int
    array_index: int
    position: int
    files: int
    bytes: int
    collected_at: datetime | None
    removed_at: datetime | None
    is_delivered: bool
    to: str | None
    mode: str | None
    group: str | None


def list_placed(
    conn: Connection, campaign_id: int, numbers: Sequence[int] | None, *, failed: bool, after: int, limit: int
) -> list[OutputLocation]:
    """In the order of the tasks' numbers, behind `after`; `numbers` None: all that have ended; `failed`: only those."""
    other = Attempt.alias()
    won = select(other.c.number).where(other.c.task_id == Task.c.id, other.c.outcome.in_(RESULTS))
    shown = case((Task.c.state == TaskState.DONE, won.scalar_subquery()), else_=Task.c.attempts)
    statement = (
        select(
            Task.c.number,
            Attempt.c.number.label("attempt"),
            Task.c.state,
            Cluster.c.name.label("cluster"),
            Batch.c.local_user,
            Job.c.batch_id,
            Job.c.array_index,
            Attempt.c.position,
            Attempt.c.files,
            Attempt.c.bytes,
            Parcel.c.collected_at,
            Parcel.c.removed_at,
            func.coalesce(Parcel.c.is_delivered, False).label("is_delivered"),
            CampaignCluster.c.settings["collect"]["to"].astext.label("to"),
            CampaignCluster.c.settings["outputs_mode"]["mode"].astext.label("mode"),
            CampaignCluster.c.settings["outputs_mode"]["group"].astext.label("group"),
        )
        .select_from(Task)
        .join(Attempt, and_(Attempt.c.task_id == Task.c.id, Attempt.c.number == shown))
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .join(CampaignCluster, _is_of_job())
        .outerjoin(Parcel, and_(Parcel.c.task_id == Task.c.id, Parcel.c.attempt == Attempt.c.number))
        .where(Task.c.campaign_id == campaign_id, Task.c.number > after, Attempt.c.outcome.is_not(None))
        .where(Task.c.state == TaskState.FAILED if failed else Task.c.state.in_(ENDED_TASKS))
        .where(Job.c.array_index.is_not(None))
        .order_by(Task.c.number)
        .limit(limit)
    )
    if numbers is not None:
        statement = statement.where(Task.c.number.in_(id_list(numbers)))
    return read_all(conn, OutputLocation, statement)


def _is_of_job() -> ColumnElement[bool]:
    part = CampaignCluster.c
    return and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id)


def find_purged(conn: Connection, campaign_id: int) -> datetime | None:
    """When its files were removed from the clusters; None: they may lie there."""
    return conn.scalar(select(Campaign.c.purged_at).where(Campaign.c.id == campaign_id))


class StoredAmount(NamedTuple):
    """What lies of a campaign in the store of the grid."""

    files: int
    bytes: int


def count_in_store(conn: Connection, campaign_id: int) -> StoredAmount:
    """All of it that its tasks have brought."""
    row = Parcel.c
    files, size = func.coalesce(func.sum(row.files), 0), func.coalesce(func.sum(row.bytes), 0)
    sums = select(files.label("files"), size.label("size")).where(_is_in_store(campaign_id))
    found = conn.execute(sums).one()
    return StoredAmount(int(found.files), int(found.size))


def has_stored(conn: Connection, campaign_id: int) -> bool:
    """Does anything of it lie there? By rows that are kept, however many tasks there are."""
    part = CampaignCluster.c
    stored = select(part.cluster_id).where(part.campaign_id == campaign_id, part.stored_bytes > 0)
    return conn.execute(stored.limit(1)).first() is not None


def list_in_store(conn: Connection, campaign_id: int, after: int, limit: int) -> list[int]:
    """The numbers of tasks whose outputs lie there, in their order, behind one of them."""
    stored = select(Task.c.number).join(Parcel, Parcel.c.task_id == Task.c.id).where(_is_in_store(campaign_id))
    behind = stored.where(Task.c.campaign_id == campaign_id, Task.c.number > after)
    return list(conn.scalars(behind.order_by(Task.c.number).limit(limit)))


def _is_in_store(campaign_id: int) -> ColumnElement[bool]:
    row = Parcel.c
    return and_(row.campaign_id == campaign_id, row.collected_at.is_not(None), ~row.is_delivered)
