"""A user stops things: a campaign for a while or for good, or one job."""

from datetime import datetime

from sqlalchemy import Connection, literal, or_, select, update

from cigri.database import clock, wake
from cigri.errors import NotFound
from cigri.flow.anyone_to_killer import ask_kills
from cigri.flow.anyone_to_operator import NewEvent, close_events, put_events
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
from cigri.tables import Attempt, Campaign, CampaignCluster, Event, Job, Task


def move_campaign(
    conn: Connection, campaign_id: int, user: str, target: CampaignState, now: datetime | None = None
) -> bool:
    """Pause, resume or cancel a campaign of the user's; False when it is in no state for that.

    Cancelling ends all: waiting tasks are cancelled, jobs not yet launched end, launched ones get a kill request.
    """
    own_campaign(conn, campaign_id, user)
    moved = conn.execute(
        update(Campaign)
        .where(Campaign.id == campaign_id, Campaign.state.in_(sources(CAMPAIGN_MOVES, target)))
        .where(or_(Campaign.state != CampaignState.TERMINATED, literal(target != CampaignState.IN_TREATMENT)))
        .values(state=target, ended_at=clock(now) if target is CampaignState.CANCELLED else None)
        .returning(Campaign.id)
    ).all()
    if not moved:
        return False
    if target is CampaignState.CANCELLED:
        conn.execute(
            update(Task)
            .where(Task.campaign_id == campaign_id, Task.state.in_((TaskState.WAITING, TaskState.FAILED)))
            .values(state=TaskState.CANCELLED)
        )
        _kill(conn, list(conn.scalars(select(Job.id).where(Job.campaign_id == campaign_id, _LIVE))), user, now)
        subjects = list(conn.scalars(select(Event.subject).where(Event.campaign_id == campaign_id, _OPEN)))
        codes = list(conn.scalars(select(Event.code).distinct().where(Event.campaign_id == campaign_id, _OPEN)))
        close_events(conn, codes, subjects, user, now)
    code = {CampaignState.PAUSED: "PAUSED", CampaignState.IN_TREATMENT: "RESUMED"}.get(target, "CANCELLED")
    subject = f"campaign {campaign_id}"
    put_events(conn, [NewEvent(code, EventLevel.INFO, subject, f"{code.lower()} by {user}", campaign_id)], now)
    wake(conn)
    return True


def kill_job(conn: Connection, job_id: int, user: str, now: datetime | None = None) -> bool:
    """Ask for one job of the user's to die, and its tasks with it; False when it has ended already."""
    row = conn.execute(select(Job.campaign_id, Job.state).where(Job.id == job_id)).one_or_none()
    if row is None:
        raise NotFound(f"no job {job_id}")
    own_campaign(conn, row.campaign_id, user)
    if row.state is JobState.ENDED:
        return False
    _kill(conn, [job_id], user, now)
    wake(conn)
    return True


_LIVE = Job.state != JobState.ENDED
_OPEN = Event.closed_at.is_(None)


def _kill(conn: Connection, job_ids: list[int], user: str, now: datetime | None) -> None:
    """End what was never submitted here and now; ask the killer for the rest."""
    ended = list(
        conn.scalars(
            update(Job)
            .where(Job.id.in_(job_ids), Job.state == JobState.TO_LAUNCH)
            .values(state=JobState.ENDED, outcome=Outcome.KILLED, ended_at=clock(now))
            .returning(Job.id)
        )
    )
    tasks = list(
        conn.scalars(
            update(Attempt)
            .where(Attempt.job_id.in_(ended), Attempt.outcome.is_(None))
            .values(outcome=Outcome.KILLED)
            .returning(Attempt.task_id)
        )
    )
    conn.execute(
        update(Task).where(Task.id.in_(tasks), Task.state == TaskState.ASSIGNED).values(state=TaskState.CANCELLED)
    )
    for step, kind in (("prologue", JobKind.PROLOGUE), ("epilogue", JobKind.EPILOGUE)):
        conn.execute(
            update(CampaignCluster)
            .where(
                Job.id.in_(ended),
                Job.kind == kind,
                CampaignCluster.campaign_id == Job.campaign_id,
                CampaignCluster.cluster_id == Job.cluster_id,
            )
            .values({step: StepState.FAILED})
        )
    ask_kills(conn, job_ids, KillReason.USER, user, now)
