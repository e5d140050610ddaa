"""Parcels: outputs of tasks that are to come back by themselves, and what became of them.
Given by: janitor, runner, stager, updator, users; taken by: stager.

Rows of parcels are locked before those of shares, which count them.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, bindparam, delete, func, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.dml import Update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CTE
from sqlalchemy.types import TypeEngine

from cigri.database import bound_values_table, id_list, interval, rows_as_json, values_table, wake
from cigri.database.typed_rows import read_all
from cigri.flow.stored_outputs import is_of_users
from cigri.inputs.store import LEAST_PART
from cigri.states import OPEN_CAMPAIGNS
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.jobs import Attempt, Batch, Job
from cigri.tables.parcels import Parcel
from cigri.tables.tasks import Task

LEFT_BY_ATTEMPTS: Mapping[str, TypeEngine[Any]] = dict.fromkeys(
    ("task_id", "attempt", "campaign_id", "files", "bytes"), BigInteger()
)
OF_ATTEMPTS: Mapping[str, TypeEngine[Any]] = dict.fromkeys(("task_id", "attempt"), BigInteger())

MOST_GIVEN_UP = 10_000
"""Of which is told that they are given up."""

IS_STILL_AWAITED = and_(Parcel.c.collected_at.is_(None), Parcel.c.lost_at.is_(None))
COLLECT = CampaignCluster.c.settings["collect"]
DESTINATION = COLLECT["to"].astext
SHARED = CampaignCluster.c.settings["outputs_mode"]


class NewParcel(NamedTuple):
    """What an attempt that counts has left, whether or not its campaign collects it."""

    task_id: int
    attempt: int
    campaign_id: int
    files: int
    bytes: int


class CollectingCampaign(NamedTuple):
    """A campaign with parcels on a cluster: where to, how many MB each may have, how many seconds they stay there.

    `mode` and `group`: with whom they are shared where they come to.
    """

    campaign_id: int
    cluster_id: int
    user: str
    to: str
    most: int | None
    keep: int | None
    mode: str | None
    group: str | None


class AwaitedParcel(NamedTuple):
    """Where the outputs of a task lie that are to be collected."""

    task_id: int
    number: int
    attempt: int
    files: int
    bytes: int
    tries: int
    ended_at: datetime
    batch_id: int
    array_index: int
    position: int
    local_user: str


class LostParcel(NamedTuple):
    """Outputs of a task that are not collected."""

    number: int
    files: int
    bytes: int


class KeptParcel(NamedTuple):
    """What has come, and is to be removed from its cluster now."""

    task_id: int
    campaign_id: int
    batch_id: int
    array_index: int
    position: int
    local_user: str


def put_parcels(conn: Connection, cluster_id: int, left: Sequence[NewParcel]) -> None:
    """What attempts have left is to come back, where their campaigns collect."""
    if left:
        conn.execute(_put(), {"left": rows_as_json(LEFT_BY_ATTEMPTS, left), "here": cluster_id})


@cache
def _put() -> Update:
    left, part, row = bound_values_table("left", LEFT_BY_ATTEMPTS), CampaignCluster.c, Parcel.c
    here = bindparam("here", type_=BigInteger)
    columns = ("task_id", "attempt", "campaign_id", "files", "bytes")
    wanted = (
        select(*(left.c[name] for name in columns), part.cluster_id, func.now())
        .join(CampaignCluster, and_(part.campaign_id == left.c.campaign_id, part.cluster_id == here))
        .where(DESTINATION.is_not(None))
    )
    new = insert(Parcel).from_select([*columns, "cluster_id", "ended_at"], wanted).on_conflict_do_nothing()
    return _recounted(new.returning(row.campaign_id, row.cluster_id, row.files, row.bytes).cte("new"), awaited=1)


def _recounted(parcels: CTE, *, awaited: int, collected: int = 0, lost: int = 0, stored: int = 0) -> Update:
    """Shares with as many more of each kind as there are of these parcels, or as many fewer."""
    groups = (
        select(parcels.c.campaign_id, parcels.c.cluster_id)
        .add_columns(func.count().label("n"), func.sum(parcels.c.bytes).label("bytes"))
        .add_columns(func.sum(parcels.c.bytes + LEAST_PART * parcels.c.files).label("taken"))
        .group_by(parcels.c.campaign_id, parcels.c.cluster_id)
        .subquery()
    )
    part = CampaignCluster.c
    return (
        update(CampaignCluster)
        .where(part.campaign_id == groups.c.campaign_id, part.cluster_id == groups.c.cluster_id)
        .values(
            uncollected=part.uncollected + awaited * groups.c.n,
            uncollected_bytes=part.uncollected_bytes + awaited * groups.c.bytes,
            collected=part.collected + collected * groups.c.n,
            lost=part.lost + lost * groups.c.n,
            stored_bytes=part.stored_bytes + stored * groups.c.taken,
        )
    )


def forget_parcels(conn: Connection, task_ids: Collection[int]) -> None:
    """These tasks are done again: what they have left is not their result, and is not collected any more."""
    row = Parcel.c
    is_gone = delete(Parcel).where(row.task_id.in_(id_list(task_ids)))
    gone = is_gone.returning(row.campaign_id, row.cluster_id, row.bytes, row.collected_at, row.lost_at).cte("gone")
    conn.execute(_discounted(gone))


def _discounted(gone: CTE) -> Update:
    """Shares without these parcels, whatever they were."""
    is_awaited = and_(gone.c.collected_at.is_(None), gone.c.lost_at.is_(None))
    groups = (
        select(
            gone.c.campaign_id,
            gone.c.cluster_id,
            func.count().filter(is_awaited).label("uncollected"),
            func.coalesce(func.sum(gone.c.bytes).filter(is_awaited), 0).label("uncollected_bytes"),
            func.count(gone.c.collected_at).label("collected"),
            func.count(gone.c.lost_at).label("lost"),
        )
        .group_by(gone.c.campaign_id, gone.c.cluster_id)
        .subquery()
    )
    part = CampaignCluster.c
    return (
        update(CampaignCluster)
        .where(part.campaign_id == groups.c.campaign_id, part.cluster_id == groups.c.cluster_id)
        .values(
            uncollected=part.uncollected - groups.c.uncollected,
            uncollected_bytes=part.uncollected_bytes - groups.c.uncollected_bytes,
            collected=part.collected - groups.c.collected,
            lost=part.lost - groups.c.lost,
        )
    )


def forget_awaited(conn: Connection, campaign_ids: Sequence[int]) -> None:
    """The files of these campaigns are gone from all clusters."""
    row, part = Parcel.c, CampaignCluster.c
    gone = delete(Parcel).where(row.campaign_id.in_(campaign_ids), IS_STILL_AWAITED)
    conn.execute(gone)
    kept = update(Parcel).where(row.campaign_id.in_(campaign_ids), row.collected_at.is_not(None))
    conn.execute(kept.where(row.removed_at.is_(None)).values(removed_at=func.now()))
    shares = update(CampaignCluster).where(part.campaign_id.in_(campaign_ids), part.uncollected > 0)
    conn.execute(shares.values(uncollected=0, uncollected_bytes=0))


def list_collecting(conn: Connection) -> list[CollectingCampaign]:
    """Campaigns with parcels that are awaited, on each cluster: those whose oldest has waited longest first."""
    part = CampaignCluster.c
    oldest = select(func.min(Parcel.c.ended_at)).where(
        Parcel.c.campaign_id == part.campaign_id, Parcel.c.cluster_id == part.cluster_id, IS_STILL_AWAITED
    )
    statement = (
        select(
            part.campaign_id,
            part.cluster_id,
            Campaign.c.grid_user.label("user"),
            DESTINATION.label("to"),
            COLLECT["max"].as_integer().label("most"),
            COLLECT["keep"].as_integer().label("keep"),
            SHARED["mode"].astext.label("mode"),
            SHARED["group"].astext.label("group"),
        )
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .where(part.uncollected > 0)
        .order_by(oldest.scalar_subquery(), part.campaign_id)
    )
    return read_all(conn, CollectingCampaign, statement)


def list_awaited(
    conn: Connection, share: CollectingCampaign, limit: int, behind: AwaitedParcel | None = None
) -> list[AwaitedParcel]:
    """The oldest of a campaign on a cluster; `behind`: those that come after one of them."""
    row = Parcel.c
    statement = (
        select(
            row.task_id, Task.c.number, row.attempt, row.files, row.bytes, row.tries, row.ended_at,
            Job.c.batch_id, Job.c.array_index, Attempt.c.position, Batch.c.local_user,
        )
        .join(Task, Task.c.id == row.task_id)
        .join(Attempt, and_(Attempt.c.task_id == row.task_id, Attempt.c.number == row.attempt))
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(row.campaign_id == share.campaign_id, row.cluster_id == share.cluster_id, IS_STILL_AWAITED)
        .order_by(row.ended_at, row.task_id)
        .limit(limit)
    )  # fmt: skip
    if behind is not None:
        statement = statement.where(tuple_(row.ended_at, row.task_id) > (behind.ended_at, behind.task_id))
    return read_all(conn, AwaitedParcel, statement)


def is_all_collected(conn: Connection, campaign_id: int) -> bool:
    """Is nothing of the campaign awaited any more, from whatever cluster?"""
    part = CampaignCluster.c
    awaited = select(part.cluster_id).where(part.campaign_id == campaign_id, part.uncollected > 0)
    return conn.execute(awaited.limit(1)).first() is None


def put_collected(conn: Connection, parcels: Sequence[AwaitedParcel], keep: float, *, is_delivered: bool) -> int:
    """They are here, and stay on the cluster so many seconds; give how many there are of which that is news.

    What is not awaited any more, as its task is done again, is let alone.
    """
    values = {"collected_at": func.now(), "is_delivered": is_delivered, "remove_at": func.now() + interval(keep)}
    return _settle(conn, parcels, values, {"collected": 1, "stored": int(not is_delivered)})


def put_lost(conn: Connection, parcels: Sequence[AwaitedParcel]) -> int:
    """They are given up; give how many there are of which that is news."""
    return _settle(conn, parcels, {"lost_at": func.now()}, {"lost": 1})


def _settle(
    conn: Connection, parcels: Sequence[AwaitedParcel], values: Mapping[str, Any], counted: Mapping[str, int]
) -> int:
    """By compare-and-set."""
    if not parcels:
        return 0
    row, wanted = (
        Parcel.c,
        values_table("wanted", OF_ATTEMPTS, [(parcel.task_id, parcel.attempt) for parcel in parcels]),
    )
    settled = (
        update(Parcel)
        .where(row.task_id == wanted.c.task_id, row.attempt == wanted.c.attempt, IS_STILL_AWAITED)
        .values(values)
        .returning(row.campaign_id, row.cluster_id, row.files, row.bytes)
        .cte("settled")
    )
    left = _recounted(settled, awaited=-1, **counted).returning(CampaignCluster.c.uncollected).cte("left_there")
    statement = select(func.count(), select(func.min(left.c.uncollected)).scalar_subquery()).select_from(settled)
    news, least = conn.execute(statement.add_cte(left)).one()
    if least == 0:
        wake(conn)  # its campaign has perhaps ended
    return int(news)


def put_tried(conn: Connection, parcels: Sequence[AwaitedParcel]) -> None:
    """They have not all been there."""
    row = Parcel.c
    tried = update(Parcel).where(row.task_id.in_(id_list(parcel.task_id for parcel in parcels)), IS_STILL_AWAITED)
    conn.execute(tried.values(tries=row.tries + 1))


def list_lost(conn: Connection, share: CollectingCampaign) -> list[LostParcel]:
    """What was given up of a campaign on a cluster, by number."""
    row = Parcel.c
    statement = (
        select(Task.c.number, row.files, row.bytes)
        .join(Task, Task.c.id == row.task_id)
        .where(row.campaign_id == share.campaign_id, row.cluster_id == share.cluster_id, row.lost_at.is_not(None))
        .order_by(Task.c.number)
        .limit(MOST_GIVEN_UP)
    )
    return read_all(conn, LostParcel, statement)


def list_removable(conn: Connection) -> list[int]:
    """Clusters on which something lies that has come, and may be removed now."""
    row = Parcel.c
    return list(conn.scalars(select(row.cluster_id).where(_is_removable()).distinct()))


def list_kept(conn: Connection, cluster_id: int, limit: int) -> list[KeptParcel]:
    """Of a cluster, what has come and may be removed now, the oldest first."""
    row = Parcel.c
    statement = (
        select(row.task_id, row.campaign_id, Job.c.batch_id, Job.c.array_index, Attempt.c.position, Batch.c.local_user)
        .join(Attempt, and_(Attempt.c.task_id == row.task_id, Attempt.c.number == row.attempt))
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(row.cluster_id == cluster_id, _is_removable())
        .order_by(row.remove_at, row.task_id)
        .limit(limit)
    )
    return read_all(conn, KeptParcel, statement)


def put_removed(conn: Connection, parcels: Sequence[KeptParcel]) -> None:
    """They are gone from the cluster."""
    row = Parcel.c
    gone = update(Parcel).where(
        row.task_id.in_(id_list(parcel.task_id for parcel in parcels)), row.removed_at.is_(None)
    )
    conn.execute(gone.values(removed_at=func.now()))


def put_outputs_wait(conn: Connection, most: int, without_room: Sequence[str] = ()) -> None:
    """Where more than so many bytes are uncollected, campaigns that collect get no new jobs.

    Nor do those of users whose outputs have no room here: what waits of theirs keeps nobody else from having jobs.
    """
    part = CampaignCluster.c
    other = CampaignCluster.alias("other")
    full = (
        select(other.c.cluster_id)
        .join(Campaign, Campaign.c.id == other.c.campaign_id)
        .where(other.c.uncollected > 0, Campaign.c.grid_user.not_in(without_room))
        .group_by(other.c.cluster_id)
        .having(func.sum(other.c.uncollected_bytes) > most)
    )
    waits = and_(or_(part.cluster_id.in_(full), is_of_users(without_room)), DESTINATION.is_not(None))
    open_ones = select(Campaign.c.id).where(Campaign.c.state.in_(OPEN_CAMPAIGNS))
    wrong = and_(part.campaign_id.in_(open_ones), part.outputs_wait != waits)
    conn.execute(update(CampaignCluster).where(wrong).values(outputs_wait=waits))


def _is_removable() -> ColumnElement[bool]:
    row = Parcel.c
    return and_(row.collected_at.is_not(None), row.removed_at.is_(None), row.remove_at <= func.now())
