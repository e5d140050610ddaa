"""Places of tasks that have inputs of their own: the cluster to which these are sent, and where they run.
Given by: stager; taken by: campaign schedulers, metascheduler, stager.
"""

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    and_,
    cast,
    delete,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import interval, wake
from cigri.database.typed_rows import read_all
from cigri.flow.input_transfers import MissingInput, account, is_mapped_on
from cigri.flow.tasks import WAITING_COLUMNS, WaitingTask
from cigri.flow.views.job_destinations import is_closed
from cigri.states import CampaignState, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster, Forecast
from cigri.tables.clusters import Cluster, ClusterState, UserMapping
from cigri.tables.inputs import CachedInput, StoredInput, TaskInput, TaskPlace
from cigri.tables.tasks import Task, TaskCount


class PlacementWindow(NamedTuple):
    """A campaign on a cluster: `placed` tasks wait there, or for their files; `unplaced` ones wait for a place.

    The cluster has so many cores, a job takes `width`, and a task `mean` seconds, if that is known.
    """

    campaign_id: int
    cluster_id: int
    cores: int
    width: int
    mean: float | None
    placed: int
    unplaced: int


def has_tasks_with_inputs(conn: Connection) -> bool:
    """Is there a campaign in treatment whose tasks have inputs, or a place of a task?"""
    campaign = select(Campaign.c.id).where(Campaign.c.tasks_have_inputs, _is_treated())
    return bool(conn.scalar(select(or_(campaign.exists(), select(TaskPlace.c.number).exists()))))


def list_windows(conn: Connection) -> list[PlacementWindow]:
    """Of campaigns in treatment, on clusters that can be given jobs now."""
    part, place, count = CampaignCluster.c, TaskPlace.c, TaskCount.c
    waiting = select(func.coalesce(func.sum(count.n), 0)).where(
        count.campaign_id == Campaign.c.id, count.state == TaskState.WAITING
    )
    placed = (
        select(func.count())
        .select_from(TaskPlace)
        .join(Task, _is_of_task())
        .where(place.campaign_id == Campaign.c.id, Task.c.state == TaskState.WAITING)
    )
    here = placed.where(place.cluster_id == part.cluster_id)
    statement = (
        select(
            part.campaign_id,
            part.cluster_id,
            ClusterState.c.total.label("cores"),
            part.width,
            Forecast.c.mean,
            here.correlate(Campaign, CampaignCluster).scalar_subquery().label("placed"),
            cast(
                waiting.correlate(Campaign).scalar_subquery() - placed.correlate(Campaign).scalar_subquery(),
                BigInteger,
            ).label("unplaced"),
        )
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .join(Cluster, Cluster.c.id == part.cluster_id)
        .join(ClusterState, ClusterState.c.cluster_id == part.cluster_id)
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == part.campaign_id, Forecast.c.cluster_id == part.cluster_id))
        .where(
            Campaign.c.tasks_have_inputs,
            _is_treated(),
            Cluster.c.is_enabled,
            Cluster.c.failures == 0,
            or_(part.blocked_until.is_(None), part.blocked_until <= func.now()),
            part.sink_since.is_(None),
        )
        .order_by(part.campaign_id, part.cluster_id)
    )
    return read_all(conn, PlacementWindow, statement)


def put_places(conn: Connection, campaign_id: int, cluster_id: int, most: int) -> int:
    """At most so many tasks that have no place get it on this cluster, the first in line first; give how many."""
    left = most
    for bucket_id in conn.scalars(
        select(Bucket.c.id).where(Bucket.c.campaign_id == campaign_id).order_by(Bucket.c.id)
    ).all():
        if left > 0 and not conn.scalar(select(_is_shut(literal(bucket_id, BigInteger), cluster_id))):
            left -= _place(conn, campaign_id, bucket_id, cluster_id, left)
    return most - left


def _place(conn: Connection, campaign_id: int, bucket_id: int, cluster_id: int, most: int) -> int:
    has_place = select(TaskPlace.c.number).where(_is_of_task()).correlate(Task)
    chosen = (
        select(Task.c.campaign_id, Task.c.number, literal(cluster_id, BigInteger), literal(False, Boolean), func.now())
        .where(Task.c.bucket_id == bucket_id, Task.c.campaign_id == campaign_id, Task.c.state == TaskState.WAITING)
        .where(Task.c.checkpoint_cluster_id.is_(None), ~has_place.exists())
        .order_by(Task.c.priority.desc(), Task.c.expected.desc(), Task.c.id)
        .limit(most)
    )
    columns = ["campaign_id", "number", "cluster_id", "is_furnished", "at"]
    placed = conn.execute(insert(TaskPlace).from_select(columns, chosen).returning(TaskPlace.c.number))
    return len(placed.all())


def move_places(conn: Connection, campaign_id: int, cluster_id: int, most: int, patience: float, still: float) -> int:
    """Tasks that have waited for other clusters for `patience` seconds are to run here: at most so many; give how many.

    One whose checkpoint is there has waited for that cluster for `still` seconds.
    """
    place = TaskPlace.c
    is_late = place.at < func.now() - interval(patience)
    may_leave = or_(Task.c.checkpoint_cluster_id.is_(None), Task.c.stopped_at < func.now() - interval(still))
    chosen = (
        select(place.number)
        .join(Task, _is_of_task())
        .where(place.campaign_id == campaign_id, place.cluster_id != cluster_id, is_late, may_leave)
        .where(Task.c.state == TaskState.WAITING, ~_is_shut(Task.c.bucket_id, cluster_id))
        .order_by(place.at, place.number)
        .limit(most)
        .with_for_update(of=(TaskPlace, Task), skip_locked=True)
    )
    moved = update(TaskPlace).where(place.campaign_id == campaign_id, place.number.in_(chosen))
    moved = moved.values(cluster_id=cluster_id, is_furnished=False, at=func.now())
    return len(conn.execute(moved.returning(place.number)).all())


def list_lacked_by_tasks(conn: Connection) -> list[MissingInput]:
    """Files that tasks lack where they are to run; what is not in the store any more has size 0."""
    return read_all(conn, MissingInput, _lacked())


@cache
def _lacked() -> Select[*tuple[object, ...]]:
    own, size = TaskInput.c, func.coalesce(StoredInput.c.size, 0)
    waited = cast(func.extract("epoch", func.now() - func.min(TaskPlace.c.at)), DOUBLE_PRECISION)
    statement = (
        select(
            TaskPlace.c.cluster_id,
            account().label("local_user"),
            own.sha256,
            false().label("is_packed"),
            size.label("size"),
            func.min(own.campaign_id).label("campaign_id"),
            func.min(Campaign.c.grid_user).label("grid_user"),
            cast(func.bool_or(CachedInput.c.sha256.is_not(None)), Boolean).label("is_begun"),
            waited.label("waited"),
        )
        .select_from(TaskPlace)
        .join(TaskInput, and_(own.campaign_id == TaskPlace.c.campaign_id, own.number == TaskPlace.c.number))
        .join(Campaign, and_(Campaign.c.id == TaskPlace.c.campaign_id, _is_treated()))
        .outerjoin(StoredInput, StoredInput.c.sha256 == own.sha256)
        .outerjoin(UserMapping, is_mapped_on(TaskPlace.c.cluster_id))
        .outerjoin(CachedInput, _is_cached())
        .where(~TaskPlace.c.is_furnished, func.coalesce(CachedInput.c.is_there, False).is_(False))
    )
    return statement.group_by(TaskPlace.c.cluster_id, account(), own.sha256, StoredInput.c.size)


def put_furnished(conn: Connection) -> int:
    """Let the tasks start whose inputs are all where they are to run; give their number."""
    place, own = TaskPlace.c, TaskInput.c
    # One join of all of them: asked about each by itself, ten thousand take minutes where their tables are new.
    whole = (
        select(place.campaign_id, place.number, place.cluster_id)
        .join(Campaign, Campaign.c.id == place.campaign_id)
        .outerjoin(TaskInput, and_(own.campaign_id == place.campaign_id, own.number == place.number))
        .outerjoin(UserMapping, is_mapped_on(place.cluster_id))
        .outerjoin(CachedInput, _is_cached())
        .where(~place.is_furnished)
        .group_by(place.campaign_id, place.number, place.cluster_id)
        .having(func.bool_and(func.coalesce(CachedInput.c.is_there, own.sha256.is_(None))))
        .subquery("whole")
    )
    is_whole = and_(*(place[column.name] == column for column in whole.c))
    done = update(TaskPlace).where(is_whole, ~place.is_furnished).values(is_furnished=True, at=func.now())
    furnished = len(conn.execute(done.returning(place.number)).all())
    if furnished:
        wake(conn)
    return furnished


def forget_places(conn: Connection) -> None:
    """Tasks that are over need no place."""
    is_over = Task.c.state.not_in((TaskState.WAITING, TaskState.ASSIGNED))
    conn.execute(delete(TaskPlace).where(_is_of_task(), is_over))


def take_furnished(
    conn: Connection, campaign_id: int, cluster_id: int, most: int, patience: float
) -> list[WaitingTask]:
    """Lock the best waiting tasks whose inputs are on this cluster until the end of the transaction.

    None that continues on another one, unless it has waited for that longer than `patience` seconds.
    """
    stopped = Task.c.checkpoint_cluster_id
    is_late = Task.c.stopped_at <= func.now() - interval(patience)
    statement = (
        select(*WAITING_COLUMNS)
        .join(TaskPlace, _is_of_task())
        .where(TaskPlace.c.campaign_id == campaign_id, TaskPlace.c.cluster_id == cluster_id, TaskPlace.c.is_furnished)
        .where(Task.c.state == TaskState.WAITING, or_(stopped.is_(None), stopped == cluster_id, is_late))
        .order_by(Task.c.priority.desc(), Task.c.expected.desc(), Task.c.id)
        .limit(most)
        .with_for_update(of=Task, skip_locked=True)
    )
    return read_all(conn, WaitingTask, statement)


def count_furnished(conn: Connection, campaign_ids: Collection[int]) -> dict[tuple[int, int], int]:
    """Waiting tasks whose inputs are there, by campaign and cluster."""
    place = TaskPlace.c
    counted = (
        select(place.campaign_id, place.cluster_id, func.count())
        .join(Task, _is_of_task())
        .where(place.is_furnished, Task.c.state == TaskState.WAITING, place.campaign_id.in_(campaign_ids))
        .group_by(place.campaign_id, place.cluster_id)
    )
    return {(campaign_id, cluster_id): number for campaign_id, cluster_id, number in conn.execute(counted)}


def _is_of_task() -> ColumnElement[bool]:
    return and_(TaskPlace.c.campaign_id == Task.c.campaign_id, TaskPlace.c.number == Task.c.number)


def _is_treated() -> ColumnElement[bool]:
    return Campaign.c.state == CampaignState.IN_TREATMENT


def _is_shut(bucket_id: ColumnElement[int], cluster_id: int) -> ColumnElement[bool]:
    return is_closed(bucket_id, literal(cluster_id, BigInteger))


def _is_cached() -> ColumnElement[bool]:
    cached, own = CachedInput.c, TaskInput.c
    is_same = and_(cached.sha256 == own.sha256, cached.is_packed.is_(False))
    return and_(cached.cluster_id == TaskPlace.c.cluster_id, cached.local_user == account(), is_same)
