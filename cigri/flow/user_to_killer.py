"""A user stops things: a campaign for a while or for good, or one job; or wants to see what runs save its state."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, and_, case, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import ScalarSelect

from cigri.database import clock, rows, wake
from cigri.errors import NotFound
from cigri.flow.anyone_to_clusters import is_account_paused
from cigri.flow.anyone_to_killer import ask_kills
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.user_to_metascheduler import own_campaign
from cigri.states import (
    CAMPAIGN_LIFE,
    OPEN_CAMPAIGNS,
    CampaignState,
    EventLevel,
    JobKind,
    JobState,
    KillReason,
    Outcome,
    TaskState,
)
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Batch, Job
from cigri.tables.moves import moving
from cigri.tables.tasks import Task, TaskCount
from cigri.tables.wishes import CheckpointRequest

FIRST_LOOK = 5.0  # seconds after a request was sent; twice as many each time


class CheckpointOrder(NamedTuple):
    """A running job whose task is to be signalled, or has been asked already (`is_new` False) and perhaps was."""

    job_id: int
    local_user: str
    campaign_id: int
    batch_id: int
    array_index: int
    is_new: bool


def move_campaign(
    conn: Connection, campaign_id: int, user: str, target: CampaignState, now: datetime | None = None
) -> bool:
    """Pause, resume or cancel a campaign of the user's; False when it is in no state for that.

    Cancelling ends all: waiting tasks are cancelled, jobs not yet launched end, launched ones get a kill request.
    """
    own_campaign(conn, campaign_id, user)
    before = [state for state in CAMPAIGN_LIFE.sources(target) if state in OPEN_CAMPAIGNS]  # new tasks open ended ones
    moved = conn.execute(
        moving(Campaign.c.state, target, out_of=before)
        .where(Campaign.c.id == campaign_id)
        .values(ended_at=clock(now) if target is CampaignState.CANCELLED else None)
        .returning(Campaign.c.id)
    ).all()
    if not moved:
        return False
    if target is CampaignState.CANCELLED:
        conn.execute(
            moving(Task.c.state, TaskState.CANCELLED, out_of=[TaskState.WAITING, TaskState.FAILED]).where(
                Task.c.campaign_id == campaign_id
            )
        )
        _kill(conn, list(conn.scalars(select(Job.c.id).where(Job.c.campaign_id == campaign_id, _LIVE))), user, now)
        conn.execute(
            update(Event)
            .where(Event.c.campaign_id == campaign_id, Event.c.closed_at.is_(None))
            .values(closed_at=clock(now), closed_by=user)
        )
    code = {CampaignState.PAUSED: "PAUSED", CampaignState.IN_TREATMENT: "RESUMED"}.get(target, "CANCELLED")
    subject = f"campaign {campaign_id}"
    put_events(conn, [NewEvent(code, EventLevel.INFO, subject, f"{code.lower()} by {user}", campaign_id)], now)
    wake(conn)
    return True


def kill_job(conn: Connection, job_id: int, user: str, now: datetime | None = None) -> bool:
    """Ask for one job of the user's to die, and its tasks with it; False when it has ended already."""
    mine = or_(Campaign.c.grid_user == user, literal(user == "root"))
    job = select(Job.c.state).join(Campaign, Campaign.c.id == Job.c.campaign_id).where(Job.c.id == job_id, mine)
    state = conn.scalar(job)
    if state is None:
        raise NotFound(f"you have no job {job_id}; `gridstat` lists yours")
    if state is JobState.ENDED:
        return False
    _kill(conn, [job_id], user, now)
    wake(conn)
    return True


def count_left(conn: Connection, campaign_id: int) -> tuple[dict[TaskState, int], int]:
    """How many tasks of a campaign are in each state, and how many of its jobs have not ended."""
    counted = select(TaskCount.c.state, func.sum(TaskCount.c.n)).where(TaskCount.c.campaign_id == campaign_id)
    tasks = {state: int(number) for state, number in conn.execute(counted.group_by(TaskCount.c.state)) if number}
    jobs = select(func.count()).select_from(Job).where(Job.c.campaign_id == campaign_id, _LIVE)
    return tasks, conn.execute(jobs).scalar_one()


def ask_checkpoints(
    conn: Connection,
    user: str,
    *,
    campaign_id: int | None = None,
    job_id: int | None = None,
    now: datetime | None = None,
) -> int:
    """Ask the running jobs of a campaign, or one job, for a checkpoint; give the number of those that can hear it."""
    chosen = Job.c.campaign_id == campaign_id if job_id is None else Job.c.id == job_id
    owner = conn.execute(
        select(Campaign.c.id, Campaign.c.grid_user)
        .where(Campaign.c.id == campaign_id if job_id is None else Campaign.c.id == _campaign_of(job_id))
        .with_for_update(read=True)
    ).one_or_none()
    if owner is None or (owner.grid_user != user and user != "root"):
        what = f"campaign {campaign_id}" if job_id is None else f"job {job_id}"
        raise NotFound(f"you have no {what}; `gridstat` lists yours")
    asked = _put_requests(conn, chosen, user, now)
    if asked:
        about = f"{user} asked {asked} running job{'' if asked == 1 else 's'} for a checkpoint"
        subject = f"campaign {owner.id}"
        put_events(conn, [NewEvent("CHECKPOINT", EventLevel.INFO, subject, about, owner.id, job_id=job_id)], now)
        wake(conn)
    return asked


def take_checkpoint_orders(conn: Connection, cluster_id: int, now: datetime | None = None) -> list[CheckpointOrder]:
    """Requests that were never sent, and sent ones that are to be looked after; those of ended jobs are closed."""
    request = CheckpointRequest
    ended = Job.c.state == JobState.ENDED
    look = func.make_interval(0, 0, 0, 0, 0, 0, FIRST_LOOK * func.power(2.0, request.c.looks))
    taken = conn.execute(
        update(request)
        .where(request.c.is_open, Job.c.id == request.c.job_id, Job.c.cluster_id == cluster_id)
        .where(
            Batch.c.id == Job.c.batch_id,
            ~is_account_paused(Batch.c.local_user, cluster_id, now),
            or_(ended, request.c.sent_at.is_(None), request.c.sent_at + look <= clock(now)),
        )
        .values(
            is_open=~ended,
            sent_at=func.coalesce(request.c.sent_at, clock(now)),
            looks=case((request.c.sent_at.is_(None), 0), else_=request.c.looks + 1),
        )
        .returning(
            request.c.job_id,
            Batch.c.local_user,
            Job.c.campaign_id,
            Batch.c.id,
            Job.c.array_index,
            request.c.looks == 0,
            request.c.is_open,
        )
    )
    return [CheckpointOrder._make(row[:6]) for row in taken if row[6]]


def put_heard(conn: Connection, job_ids: Sequence[int], now: datetime | None = None) -> None:
    """The tasks of these jobs have been signalled."""
    request = CheckpointRequest
    heard = conn.execute(
        update(request)
        .where(request.c.job_id.in_(job_ids), request.c.is_open, Job.c.id == request.c.job_id)
        .values(heard_at=clock(now), is_open=False)
        .returning(Job.c.campaign_id)
    ).scalars()
    for campaign_id, number in Counter(heard).items():
        about = f"{number} running job{'' if number == 1 else 's'} signalled their tasks for a checkpoint"
        put_events(conn, [NewEvent("CHECKPOINT", EventLevel.INFO, f"campaign {campaign_id}", about, campaign_id)], now)


def unsend_checkpoints(conn: Connection, job_ids: Sequence[int]) -> None:
    """These requests did not arrive: they are sent again at the next pass."""
    request = CheckpointRequest
    conn.execute(update(request).where(request.c.job_id.in_(job_ids), request.c.is_open).values(sent_at=None, looks=0))


def _campaign_of(job_id: int | None) -> ScalarSelect[int]:
    return select(Job.c.campaign_id).where(Job.c.id == job_id).scalar_subquery()


def _put_requests(conn: Connection, chosen: ColumnElement[bool], user: str, now: datetime | None) -> int:
    """One for each running job of a campaign that declares a checkpoint there."""
    part, request = CampaignCluster, CheckpointRequest
    listening = (
        select(Job.c.id, clock(now), literal(user))
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


_LIVE = Job.c.state != JobState.ENDED


def _kill(conn: Connection, job_ids: list[int], user: str, now: datetime | None) -> None:
    """End what was never submitted here and now; ask the killer for the rest."""
    _end_unsent(conn, job_ids, now)
    ask_kills(conn, job_ids, KillReason.USER, user, now)


def _end_unsent(conn: Connection, job_ids: list[int], now: datetime | None) -> None:
    wanted = rows("wanted", {"id": BigInteger()}, [(job_id,) for job_id in job_ids])
    unsent = conn.execute(
        select(Job.c.id, Job.c.campaign_id, Job.c.cluster_id, Job.c.kind)
        .join(wanted, wanted.c.id == Job.c.id)
        .where(Job.c.state == JobState.TO_LAUNCH)
        .order_by(Job.c.id)
        .with_for_update(of=Job, key_share=True)
    ).all()
    if unsent:
        from cigri.flow.runner_to_campaign_schedulers import end_unsent  # takes a moment
        from cigri.settings.sections import JobSettings

        end_unsent(conn, unsent, Outcome.KILLED, "", JobSettings(), now)  # no limit counts for what is killed
