"""Queue limits: how much of an account a batch system takes at a time, as learnt from what it refuses.
Given by: runner; taken by: campaign schedulers, metascheduler, runner.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, case, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import pause_after
from cigri.errors import QueueFull
from cigri.estimates.backoff import QUEUES_THAT_ARE_FULL
from cigri.estimates.queue_limits import QueueBounds, first_bounds
from cigri.flow.clusters import ClusterRow
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.formats.units import as_utc
from cigri.states import EventLevel, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import QueueLimit, UserMapping
from cigri.tables.jobs import Batch, Job

FULL_QUEUE = "QUEUE_LIMIT"


class AccountRoom(NamedTuple):
    """What an account may have in the queue of a cluster, and has of the grid: jobs, or arrays of them."""

    allowed: int
    used: int
    counts_arrays: bool

    @property
    def left(self) -> int:
        """How many more may be sent."""
        return max(0, self.allowed - self.used)


class CampaignRoom(NamedTuple):
    """The room of the account that a campaign has on a cluster; there what is not sent yet is used, too."""

    campaign_id: int
    cluster_id: int
    local_user: str
    room: AccountRoom


class _KnownLimit(NamedTuple):
    cluster_id: int
    local_user: str
    bounds: QueueBounds
    is_due: bool
    counts_arrays: bool


def list_account_rooms(conn: Connection, cluster_id: int) -> dict[str, AccountRoom]:
    """Of the accounts on a cluster for which a limit is known; used is what is in its queue, or may be."""
    known = _known(conn, QueueLimit.c.cluster_id == cluster_id)
    return {
        limit.local_user: AccountRoom(
            limit.bounds.allowed(is_due=limit.is_due),
            _in_queue(conn, cluster_id, limit.local_user, counts_arrays=limit.counts_arrays),
            limit.counts_arrays,
        )
        for limit in known
    }


def list_campaign_rooms(conn: Connection, which: ColumnElement[bool]) -> list[CampaignRoom]:
    """Of these campaigns, wherever a limit is known for their account."""
    known = {(limit.cluster_id, limit.local_user): limit for limit in _known(conn, literal(True))}
    if not known:
        return []
    used = {(row.cluster_id, row.local_user): row for row in conn.execute(_live())}
    rooms = []
    for campaign_id, cluster_id, user in conn.execute(_accounts().where(which)):
        if (limit := known.get((cluster_id, user))) is None:
            continue
        live = used.get((cluster_id, user))
        count = (live.arrays if limit.counts_arrays else live.jobs) if live else 0
        room = AccountRoom(limit.bounds.allowed(is_due=limit.is_due), count, limit.counts_arrays)
        rooms.append(CampaignRoom(campaign_id, cluster_id, user, room))
    return rooms


def put_taken(conn: Connection, cluster: ClusterRow, user: str) -> None:
    """All that is in the queue of this account was taken; the limit is over where that is more than it was."""
    for limit in _known(conn, and_(QueueLimit.c.cluster_id == cluster.id, QueueLimit.c.local_user == user)):
        present = _in_queue(conn, cluster.id, user, counts_arrays=limit.counts_arrays)
        bounds = limit.bounds.after_taken(present)
        if bounds == limit.bounds:
            continue
        changed = update(QueueLimit).where(_is(cluster, user)).values(**bounds._asdict())
        stored = conn.execute(changed.returning(QueueLimit.c.said, QueueLimit.c.look_at)).one()
        if bounds.refused is None:
            close_events(conn, [FULL_QUEUE], [_account(cluster, user)], "cigri")
        else:
            _tell(conn, cluster, user, limit._replace(bounds=bounds), stored.said, stored.look_at)


def put_full(conn: Connection, cluster: ClusterRow, user: str, size: int, error: QueueFull) -> None:
    """So many more jobs than are in the queue of this account, in one array, were not taken: remember and tell it."""
    counts_arrays = error.counts_arrays
    present = _in_queue(conn, cluster.id, user, counts_arrays=counts_arrays)
    more = 1 if counts_arrays else size
    known = [limit for limit in _known(conn, _is(cluster, user)) if limit.counts_arrays == counts_arrays]
    bounds = known[0].bounds.after_refused(present, more) if known else first_bounds(present, more)
    pause = pause_after(literal(bounds.looks + 1), QUEUES_THAT_ARE_FULL)
    values = {**bounds._asdict(), "counts_arrays": counts_arrays, "said": str(error)}
    new = insert(QueueLimit).values(cluster_id=cluster.id, local_user=user, look_at=func.now() + pause, **values)
    changed = {name: new.excluded[name] for name in values}
    look_at = case((new.excluded.misses == 0, new.excluded.look_at), else_=QueueLimit.c.look_at)
    stored = new.on_conflict_do_update(
        index_elements=["cluster_id", "local_user"], set_={**changed, "look_at": look_at}
    ).returning(QueueLimit.c.look_at)
    limit = _KnownLimit(cluster.id, user, bounds, False, counts_arrays)
    _tell(conn, cluster, user, limit, str(error), conn.execute(stored).scalar_one())


def _tell(conn: Connection, cluster: ClusterRow, user: str, limit: _KnownLimit, said: str, look_at: datetime) -> None:
    kind = "arrays of jobs" if limit.counts_arrays else "jobs"
    message = (
        f"the queue is full for this account: {said}. {limit.bounds.most} {kind} of the grid were taken at a time, "
        f"{limit.bounds.refused} were not; no more are sent, and it is looked for more at {as_utc(look_at)}. Ask the "
        "site for a higher limit, or give campaigns a lower max_jobs there"
    )
    event = NewEvent(FULL_QUEUE, EventLevel.WARNING, _account(cluster, user), message, cluster_id=cluster.id)
    put_events(conn, [event])


def _known(conn: Connection, which: ColumnElement[bool]) -> Sequence[_KnownLimit]:
    limit = QueueLimit.c
    rows = conn.execute(select(QueueLimit, (limit.look_at <= func.now()).label("is_due")).where(which))
    return [
        _KnownLimit(
            row.cluster_id,
            row.local_user,
            QueueBounds(row.most, row.refused, row.misses, row.looks),
            row.is_due,
            row.counts_arrays,
        )
        for row in rows
    ]


def _in_queue(conn: Connection, cluster_id: int, user: str, *, counts_arrays: bool) -> int:
    """What was sent of the account and has not ended, as far as is known."""
    sent = (JobState.LAUNCHING, JobState.SUBMITTED, JobState.RUNNING)
    number = func.count(Job.c.batch_id.distinct()) if counts_arrays else func.count()
    statement = (
        select(number)
        .select_from(Job)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .where(Job.c.cluster_id == cluster_id, Job.c.state.in_(sent), Batch.c.local_user == user)
    )
    return conn.execute(statement).scalar_one()


@cache
def _live() -> Select[*tuple[Any, ...]]:
    """By account with a limit: jobs that live, those not sent yet among them, and arrays."""
    user = func.coalesce(UserMapping.c.local_user, Campaign.c.grid_user)
    return (
        select(
            Job.c.cluster_id,
            user.label("local_user"),
            func.count().label("jobs"),
            func.count(Job.c.batch_id.distinct()).label("arrays"),
        )
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .outerjoin(
            UserMapping,
            and_(UserMapping.c.cluster_id == Job.c.cluster_id, UserMapping.c.grid_user == Campaign.c.grid_user),
        )
        .where(Job.c.state != JobState.ENDED, Job.c.cluster_id.in_(select(QueueLimit.c.cluster_id)))
        .group_by(Job.c.cluster_id, user)
    )


@cache
def _accounts() -> Select[*tuple[Any, ...]]:
    part = CampaignCluster.c
    mapped = and_(UserMapping.c.cluster_id == part.cluster_id, UserMapping.c.grid_user == Campaign.c.grid_user)
    return (
        select(part.campaign_id, part.cluster_id, func.coalesce(UserMapping.c.local_user, Campaign.c.grid_user))
        .join(Campaign, Campaign.c.id == part.campaign_id)
        .outerjoin(UserMapping, mapped)
        .where(part.cluster_id.in_(select(QueueLimit.c.cluster_id)))
    )


def _is(cluster: ClusterRow, user: str) -> ColumnElement[bool]:
    return and_(QueueLimit.c.cluster_id == cluster.id, QueueLimit.c.local_user == user)


def _account(cluster: ClusterRow, user: str) -> str:
    return f"account {user} on {cluster.name}"
