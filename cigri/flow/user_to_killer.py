"""A user stops things: a campaign for a while or for good, or one job."""

from datetime import datetime

from sqlalchemy import BigInteger, Connection, func, literal, or_, select, update

from cigri.database import clock, rows, wake
from cigri.errors import NotFound
from cigri.flow.anyone_to_killer import ask_kills
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.user_to_metascheduler import own_campaign
from cigri.states import (
    CAMPAIGN_MOVES,
    CampaignState,
    EventLevel,
    JobKind,
    JobState,
    KillReason,
    Outcome,
    StepState,
    TaskState,
    sources,
)
from cigri.tables import Attempt, Campaign, CampaignCluster, Event, Job, Task, TaskCount


def move_campaign(
    conn: Connection, campaign_id: int, user: str, target: CampaignState, now: datetime | None = None
) -> bool:
    """Pause, resume or cancel a campaign of the user's; False when it is in no state for that.

    Cancelling ends all: waiting tasks are cancelled, jobs not yet launched end, launched ones get a kill request.
    """
    own_campaign(conn, campaign_id, user)
    moved = conn.execute(
        update(Campaign)
        .where(Campaign.c.id == campaign_id, Campaign.c.state.in_(sources(CAMPAIGN_MOVES, target)))
        .where(or_(Campaign.c.state != CampaignState.TERMINATED, literal(target != CampaignState.IN_TREATMENT)))
        .values(state=target, ended_at=clock(now) if target is CampaignState.CANCELLED else None)
        .returning(Campaign.c.id)
    ).all()
    if not moved:
        return False
    if target is CampaignState.CANCELLED:
        conn.execute(
            update(Task)
            .where(Task.c.campaign_id == campaign_id, Task.c.state.in_((TaskState.WAITING, TaskState.FAILED)))
            .values(state=TaskState.CANCELLED)
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


_LIVE = Job.c.state != JobState.ENDED


def _kill(conn: Connection, job_ids: list[int], user: str, now: datetime | None) -> None:
    """End what was never submitted here and now; ask the killer for the rest."""
    wanted = rows("wanted", {"id": BigInteger()}, [(job_id,) for job_id in job_ids])
    ended = list(
        conn.scalars(
            update(Job)
            .where(Job.c.id == wanted.c.id, Job.c.state == JobState.TO_LAUNCH)
            .values(state=JobState.ENDED, outcome=Outcome.KILLED, ended_at=clock(now))
            .returning(Job.c.id)
        )
    )
    chosen = rows("chosen", {"id": BigInteger()}, [(job_id,) for job_id in ended])
    gone = (
        update(Attempt)
        .where(Attempt.c.job_id == chosen.c.id, Attempt.c.outcome.is_(None))
        .values(outcome=Outcome.KILLED)
        .returning(Attempt.c.task_id)
    ).cte("gone")
    conn.execute(
        update(Task)
        .where(Task.c.id == gone.c.task_id, Task.c.state == TaskState.ASSIGNED)
        .values(state=TaskState.CANCELLED)
    )
    for step, kind in (("prologue", JobKind.PROLOGUE), ("epilogue", JobKind.EPILOGUE)):
        conn.execute(
            update(CampaignCluster)
            .where(
                Job.c.id == chosen.c.id,
                Job.c.kind == kind,
                CampaignCluster.c.campaign_id == Job.c.campaign_id,
                CampaignCluster.c.cluster_id == Job.c.cluster_id,
            )
            .values({step: StepState.FAILED})
        )
    ask_kills(conn, job_ids, KillReason.USER, user, now)
