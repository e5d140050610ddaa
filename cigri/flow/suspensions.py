"""Halts: what clusters are told of jobs that shall stand still or go on, until they do.
Taken by: killer.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Boolean, Connection, Text, and_, case, cast, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from cigri.database import values_table
from cigri.database.typed_rows import read_all
from cigri.flow.cluster_visits import is_account_paused
from cigri.flow.holds import is_job_held
from cigri.states import OPEN_CAMPAIGNS, JobState
from cigri.tables.campaigns import Campaign, Hold
from cigri.tables.clusters import Cluster
from cigri.tables.job_requests import KillRequest, Suspension
from cigri.tables.jobs import Batch, Job

MANY_CONTROLS = 5


class DueSuspension(NamedTuple):
    """A job that shall stand still (`is_wanted`) or go on; `tries` counts this one."""

    job_id: int
    campaign_id: int
    local_user: str
    remote_id: str
    state: JobState
    is_wanted: bool
    tries: int


def has_suspensions(conn: Connection) -> bool:
    """Is there anything that stands still, or has not gone on yet?"""
    wish = select(Hold.c.id).join(Campaign, Campaign.c.id == Hold.c.campaign_id)
    is_wished = wish.where(Campaign.c.state.in_(OPEN_CAMPAIGNS)).exists()
    return bool(conn.scalar(select(or_(is_wished, select(Suspension.c.job_id).exists()))))


def claim_due_suspensions(
    conn: Connection, cluster_id: int, states: Iterable[JobState], verify_after: float
) -> list[DueSuspension]:
    """Jobs in these states that are not as their user wishes, and were not told, or too long ago; marked as told.

    A job that was told to stand still is told to go on whether or not it was seen to stand still. One that nobody of
    us has told anything is somebody else's to release.
    """
    _forget(conn, cluster_id, verify_after)
    is_held = is_job_held()
    is_same = and_(Suspension.c.is_wanted == is_held, Suspension.c.state == Job.c.state)
    is_killed = select(KillRequest.c.job_id).where(KillRequest.c.job_id == Job.c.id, KillRequest.c.is_open).exists()
    is_old = Suspension.c.sent_at <= func.now() - timedelta(seconds=verify_after)
    tries = case((is_same, Suspension.c.tries + 1), else_=1).label("tries")
    statement = (
        select(Job.c.id.label("job_id"), Job.c.campaign_id, Batch.c.local_user, Job.c.remote_id, Job.c.state)
        .add_columns(is_held.label("is_wanted"), tries)
        .join(Batch, Batch.c.id == Job.c.batch_id)
        .outerjoin(Suspension, Suspension.c.job_id == Job.c.id)
        .where(Job.c.cluster_id == cluster_id, Job.c.state.in_(tuple(states)))
        .where(Job.c.remote_id.is_not(None), Job.c.missing_since.is_(None), ~is_killed)
        .where(~is_account_paused(Batch.c.local_user, cluster_id))
        .where(or_(and_(is_held, Job.c.halted_since.is_(None)), and_(~is_held, Suspension.c.job_id.is_not(None))))
        .where(
            or_(
                Suspension.c.sent_at.is_(None),
                ~is_same,
                and_(is_old, or_(~is_held, Suspension.c.tries < MANY_CONTROLS)),
            )
        )
        .order_by(Job.c.id)
    )
    orders = read_all(conn, DueSuspension, statement)
    _mark(conn, orders)
    return orders


def unsend_halts(conn: Connection, job_ids: Sequence[int], *, were_tried: bool = True) -> None:
    """The cluster was not reached, or not asked: these are due again at once."""
    of_these = update(Suspension).where(Suspension.c.job_id.in_(job_ids))
    conn.execute(of_these.values(sent_at=None, tries=Suspension.c.tries - (0 if were_tried else 1)))


def _mark(conn: Connection, orders: Sequence[DueSuspension]) -> None:
    if not orders:
        return
    columns: dict[str, Any] = {"id": BigInteger(), "is_wanted": Boolean(), "state": Text(), "tries": BigInteger()}
    new = values_table("new", columns, [(order.job_id, order.is_wanted, order.state, order.tries) for order in orders])
    statement = insert(Suspension).from_select(
        ["job_id", "is_wanted", "state", "sent_at", "tries"],
        select(new.c.id, new.c.is_wanted, cast(new.c.state, Suspension.c.state.type), func.now(), new.c.tries),
    )
    changes = {name: statement.excluded[name] for name in ("is_wanted", "state", "sent_at", "tries")}
    conn.execute(statement.on_conflict_do_update(index_elements=[Suspension.c.job_id], set_=changes))


def _forget(conn: Connection, cluster_id: int, verify_after: float) -> None:
    """Jobs that have ended, and those that were told to go on and have been seen to since."""
    old = func.now() - timedelta(seconds=verify_after)
    seen = and_(Suspension.c.sent_at <= func.least(Cluster.c.visited_at, old), Job.c.halted_since.is_(None))
    goes_on = and_(~Suspension.c.is_wanted, seen, ~is_job_held())
    here = and_(Job.c.cluster_id == cluster_id, Cluster.c.id == Job.c.cluster_id)
    over = Job.c.state == JobState.ENDED
    conn.execute(delete(Suspension).where(Suspension.c.job_id == Job.c.id, here, or_(over, goes_on)))
    conn.execute(delete(Hold).where(Hold.c.job_id == Job.c.id, Job.c.cluster_id == cluster_id, over))
