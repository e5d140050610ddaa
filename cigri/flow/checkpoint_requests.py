"""Checkpoint requests: running jobs whose tasks are to save their state.
Given by: users; taken by: killer.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, and_, case, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import ScalarSelect

from cigri.database import pause_after, wake
from cigri.database.typed_rows import read_all
from cigri.errors import NotFound
from cigri.estimates.backoff import JOBS_ASKED_FOR_A_CHECKPOINT
from cigri.flow.cluster_visits import is_account_paused
from cigri.flow.events import NewEvent, put_events
from cigri.identity.callers import Caller
from cigri.states import EventLevel, JobKind, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.job_requests import CheckpointRequest
from cigri.tables.jobs import Batch, Job


class DueCheckpoint(NamedTuple):
    """A running job whose task is to be signalled, or has been asked already (`is_new` False) and perhaps was."""

    job_id: int
    local_user: str
    campaign_id: int
    batch_id: int
    array_index: int
    is_new: bool


def request_checkpoints(
    conn: Connection, caller: Caller, *, campaign_id: int | None = None, job_id: int | None = None
) -> int:
    """Ask the running jobs of a campaign, or one job, for a checkpoint; give the number of those that can hear it."""
    chosen = Job.c.campaign_id == campaign_id if job_id is None else Job.c.id == job_id
    owner = conn.execute(
        select(Campaign.c.id, Campaign.c.grid_user)
        .where(Campaign.c.id == campaign_id if job_id is None else Campaign.c.id == _campaign_of(job_id))
        .with_for_update(read=True)
    ).one_or_none()
    if owner is None or not caller.owns(owner.grid_user):
        what = f"campaign {campaign_id}" if job_id is None else f"job {job_id}"
        raise NotFound(f"you have no {what}; `gridstat` lists yours")
    asked = _put_requests(conn, chosen, caller.user)
    if asked:
        message = f"{caller.user} asked {asked} running job{'' if asked == 1 else 's'} for a checkpoint"
        subject = f"campaign {owner.id}"
        put_events(conn, [NewEvent("CHECKPOINT", EventLevel.INFO, subject, message, owner.id, job_id=job_id)])
        wake(conn)
    return asked


def take_checkpoint_orders(conn: Connection, cluster_id: int) -> list[DueCheckpoint]:
    """Requests that were never sent, and sent ones that are to be looked after; those of ended jobs are closed."""
    request = CheckpointRequest
    ended = Job.c.state == JobState.ENDED
    look = pause_after(request.c.looks + 1, JOBS_ASKED_FOR_A_CHECKPOINT)
    taken = (
        update(request)
        .where(request.c.is_open, Job.c.id == request.c.job_id, Job.c.cluster_id == cluster_id)
        .where(
            Batch.c.id == Job.c.batch_id,
            ~is_account_paused(Batch.c.local_user, cluster_id),
            or_(ended, request.c.sent_at.is_(None), request.c.sent_at + look <= func.now()),
        )
        .values(
            is_open=~ended,
            sent_at=func.coalesce(request.c.sent_at, func.now()),
            looks=case((request.c.sent_at.is_(None), 0), else_=request.c.looks + 1),
        )
        .returning(
            request.c.job_id,
            Batch.c.local_user,
            Job.c.campaign_id,
            Batch.c.id.label("batch_id"),
            Job.c.array_index,
            (request.c.looks == 0).label("is_new"),
            request.c.is_open,
        )
        .cte("taken")
    )
    wanted = select(*(taken.c[name] for name in DueCheckpoint._fields)).where(taken.c.is_open)
    return read_all(conn, DueCheckpoint, wanted)


def record_checkpoint_states(conn: Connection, job_ids: Sequence[int]) -> None:
    """The tasks of these jobs have been signalled."""
    request = CheckpointRequest
    heard = conn.execute(
        update(request)
        .where(request.c.job_id.in_(job_ids), request.c.is_open, Job.c.id == request.c.job_id)
        .values(heard_at=func.now(), is_open=False)
        .returning(Job.c.campaign_id)
    ).scalars()
    for campaign_id, number in Counter(heard).items():
        message = f"{number} running job{'' if number == 1 else 's'} signalled their tasks for a checkpoint"
        put_events(conn, [NewEvent("CHECKPOINT", EventLevel.INFO, f"campaign {campaign_id}", message, campaign_id)])


def unsend_checkpoints(conn: Connection, job_ids: Sequence[int]) -> None:
    """These requests did not arrive: they are sent again at the next pass."""
    request = CheckpointRequest
    conn.execute(update(request).where(request.c.job_id.in_(job_ids), request.c.is_open).values(sent_at=None, looks=0))


def _campaign_of(job_id: int | None) -> ScalarSelect[int]:
    return select(Job.c.campaign_id).where(Job.c.id == job_id).scalar_subquery()


def _put_requests(conn: Connection, chosen: ColumnElement[bool], user: str) -> int:
    """One for each running job of a campaign that declares a checkpoint there."""
    part, request = CampaignCluster, CheckpointRequest
    listening = (
        select(Job.c.id, func.now(), literal(user))
        .join(part, and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id))
        .where(chosen, Job.c.state == JobState.RUNNING, Job.c.kind == JobKind.TASKS)
        .where(func.jsonb_typeof(part.c.settings["checkpoint"]) == "object")
    )
    statement = insert(request).from_select(["job_id", "asked_at", "asked_by"], listening)
    again = {"asked_at": statement.excluded.asked_at, "asked_by": user, "sent_at": None, "looks": 0, "is_open": True}
    asked = conn.execute(
        statement.on_conflict_do_update(index_elements=[request.c.job_id], set_=again).returning(request.c.job_id)
    )
    return len(asked.all())
