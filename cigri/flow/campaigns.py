"""Campaigns on their way: put before others, cancelled, ended, and opened again.
Given by: janitor, metascheduler, users; taken by: metascheduler, operator, users.
"""

from functools import cache

from sqlalchemy import Connection, and_, func, select, update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import wake
from cigri.errors import NotFound
from cigri.flow.cancellations import IS_LIVE, cancel_jobs
from cigri.flow.error_budgets import DO_NOTHING, JOBS_STUCK, NOT_SUBMITTED, SET_ASIDE
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.input_transfers import require_inputs
from cigri.flow.submit_pools import put_pools
from cigri.identity.callers import Caller
from cigri.states import (
    LEFT_TO_DO,
    OPEN_CAMPAIGNS,
    CampaignState,
    CampaignType,
    EventLevel,
    JobKind,
    JobState,
    StepState,
    TaskState,
)
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Job
from cigri.tables.tasks import Task, TaskCount
from cigri.tables.transitions import transition_to, transitioned_value

OF_CAMPAIGNS_AT_WORK = (
    *(SET_ASIDE, NOT_SUBMITTED, DO_NOTHING, JOBS_STUCK),
    *("HOLD_PROBLEM", "SUSPEND_PROBLEM", "RELEASE_PROBLEM", "RESUME_PROBLEM", "JOBS_NOT_STARTED"),
)
"""Codes of events that are over when the campaign is."""
NOT_IN_JOBS = (TaskState.BLOCKED, TaskState.WAITING, TaskState.FAILED)


def set_own_priority(conn: Connection, campaign_id: int, caller: Caller, priority: int) -> None:
    """Among the campaigns of its owner, higher ones go first; 0 is that of a campaign that says nothing."""
    state = own_campaign(conn, campaign_id, caller)
    if state not in OPEN_CAMPAIGNS:
        raise NotFound(f"campaign {campaign_id} is {state}: it goes before none any more")
    conn.execute(update(Campaign).where(Campaign.c.id == campaign_id).values(own_priority=priority))
    wake(conn)


def own_campaign(conn: Connection, campaign_id: int, caller: Caller) -> CampaignState:
    """The state of a campaign of the caller's, locked; raise NotFound for that of somebody else."""
    row = conn.execute(
        select(Campaign.c.state, Campaign.c.grid_user).where(Campaign.c.id == campaign_id).with_for_update()
    ).one_or_none()
    if row is None or not caller.owns(row.grid_user):
        raise NotFound(f"you have no campaign {campaign_id}; `gridstat` lists yours")
    state: CampaignState = row.state
    return state


def reopen_campaign(conn: Connection, campaign_id: int, user: str) -> None:
    """There is something to do again: after an epilogue, which may have undone the prologue, both run once more.

    Lists show it again; a wish to have its files removed, or the note that they are, holds no longer.
    """
    conn.execute(
        transition_to(Campaign.c.state, CampaignState.IN_TREATMENT, out_of=[CampaignState.TERMINATED])
        .where(Campaign.c.id == campaign_id)
        .values(ended_at=None, purged_at=None, forgotten_at=None)
    )
    put_pools(conn, [campaign_id])
    part = CampaignCluster
    conn.execute(
        transition_to(part.c.epilogue, StepState.WAITING, out_of=[StepState.DONE, StepState.FAILED])
        .where(part.c.campaign_id == campaign_id)
        .values(prologue=transitioned_value(part.c.prologue, StepState.DONE, StepState.WAITING))
    )
    require_inputs(conn, campaign_id=campaign_id)
    close_events(conn, ["PURGE"], [f"campaign {campaign_id}"], user)


def require_open_to_tasks(conn: Connection, campaign_id: int, caller: Caller) -> None:
    """Raise NotFound unless it is the caller's, and neither cancelled nor archived."""
    state = own_campaign(conn, campaign_id, caller)
    if conn.scalar(select(Campaign.c.type).where(Campaign.c.id == campaign_id)) is CampaignType.TEST:
        raise NotFound(f"campaign {campaign_id} is a test, which has one task for each cluster; submit a new one")
    if state is CampaignState.CANCELLED:
        raise NotFound(f"campaign {campaign_id} is cancelled; submit a new one")
    if conn.scalar(select(Campaign.c.archived_at).where(Campaign.c.id == campaign_id)) is not None:
        raise NotFound(f"campaign {campaign_id} ended long ago and is archived; submit a new one")


def set_priority(conn: Connection, campaign_id: int, priority: int) -> None:
    """Campaigns of a higher priority go first, whatever the policy; 0 is that of a new campaign."""
    changed = update(Campaign).where(Campaign.c.id == campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS))
    if not conn.execute(changed.values(priority=priority).returning(Campaign.c.id)).all():
        raise NotFound(f"no open campaign {campaign_id}; `gridstat` lists them")
    wake(conn)


def cancel_campaign(conn: Connection, campaign_id: int, caller: Caller) -> bool:
    """Cancel a campaign of the caller's; return False when it is not open.

    Waiting tasks are cancelled, jobs not yet launched end, launched ones get a kill request.
    """
    own_campaign(conn, campaign_id, caller)
    moved = conn.execute(
        transition_to(Campaign.c.state, CampaignState.CANCELLED)
        .where(Campaign.c.id == campaign_id)
        .values(ended_at=func.now())
        .returning(Campaign.c.id)
    ).all()
    if not moved:
        return False
    tasks = transition_to(Task.c.state, TaskState.CANCELLED, out_of=NOT_IN_JOBS)
    conn.execute(tasks.where(Task.c.campaign_id == campaign_id))
    live = conn.scalars(select(Job.c.id).where(Job.c.campaign_id == campaign_id, IS_LIVE))
    cancel_jobs(conn, list(live), caller.user)
    conn.execute(
        update(Event)
        .where(Event.c.campaign_id == campaign_id, Event.c.closed_at.is_(None))
        .values(closed_at=func.now(), closed_by=caller.user)
    )
    message, subject = f"cancelled by {caller.user}", f"campaign {campaign_id}"
    put_events(conn, [NewEvent("CANCELLED", EventLevel.INFO, subject, message, campaign_id)])
    wake(conn)
    return True


def close_campaigns(conn: Connection) -> int:
    """End the campaigns whose tasks and steps are all over, whose outputs are here where they are collected, and whose
    failures and doubts nobody still looks at."""
    treated = keep_in_treatment(conn, select(Campaign.c.id).where(_has_ended()))
    if not treated:
        return 0
    # looked at again now that nobody can add a task meanwhile
    ended = conn.execute(
        transition_to(Campaign.c.state, CampaignState.TERMINATED)
        .where(Campaign.c.id.in_(treated), _has_ended())
        .values(ended_at=func.now())
        .returning(Campaign.c.id, Campaign.c.name)
    ).all()
    put_events(
        conn,
        [
            NewEvent("FINISHED", EventLevel.INFO, f"campaign {row.id}", f"campaign {row.name} has ended", row.id)
            for row in ended
        ],
    )
    if ended:
        close_events_that_are_over(conn)
    return len(ended)


def close_events_that_are_over(conn: Connection) -> None:
    """What kept an ended campaign from clusters keeps it no longer; should it have more tasks, it begins anew there.

    That a task has failed, or outputs were lost, is a result of it, and stays.
    """
    over = conn.scalars(
        update(Event)
        .where(Event.c.closed_at.is_(None), Event.c.code.in_(OF_CAMPAIGNS_AT_WORK))
        .where(Event.c.campaign_id == Campaign.c.id, Campaign.c.state.not_in(OPEN_CAMPAIGNS))
        .values(closed_at=func.now(), closed_by="cigri")
        .returning(Event.c.campaign_id)
    ).all()
    if not over:
        return
    anew = dict.fromkeys(("errors", "strikes", "failed_sends", "idle_deaths"), 0)
    part = CampaignCluster
    conn.execute(update(part).where(part.c.campaign_id.in_(over)).values(**anew, blocked_until=None))


@cache
def _has_ended() -> ColumnElement[bool]:
    return and_(is_settled(), ~_is_looked_at("TASK_FAILED"))


def is_settled() -> ColumnElement[bool]:
    """Is the campaign of the statement around it over, with its epilogues and outputs, and nothing of it in doubt?

    Then a person may still want failed tasks to be done again.
    """
    part = CampaignCluster
    steps = select(part.c.campaign_id).where(
        part.c.campaign_id == Campaign.c.id, part.c.epilogue.in_((StepState.WAITING, StepState.RUNNING))
    )
    parcels = select(part.c.campaign_id).where(part.c.campaign_id == Campaign.c.id, part.c.uncollected > 0)
    in_doubt = _is_looked_at("EPILOGUE_FAILED", "RESULTS_DOUBTED")
    return and_(is_over(), ~steps.exists(), ~parcels.exists(), ~in_doubt)


def _is_looked_at(*codes: str) -> ColumnElement[bool]:
    events = select(Event.c.id).where(
        Event.c.campaign_id == Campaign.c.id, Event.c.closed_at.is_(None), Event.c.code.in_(codes)
    )
    return events.exists()


def keep_in_treatment(conn: Connection, wanted: Select[int]) -> list[int]:
    """Those of the wanted campaigns that are in treatment, kept so until the end of the transaction.

    One that its user is just changing is left for the next cycle.
    """
    held = select(Campaign.c.id).where(Campaign.c.state == CampaignState.IN_TREATMENT, Campaign.c.id.in_(wanted))
    return list(conn.scalars(held.order_by(Campaign.c.id).with_for_update(skip_locked=True)))


def is_over() -> ColumnElement[bool]:
    """Has the campaign of the statement around it no task left to do, nor a live job but epilogues?"""
    live = select(Job.c.id).where(
        Job.c.campaign_id == Campaign.c.id, Job.c.state != JobState.ENDED, Job.c.kind != JobKind.EPILOGUE
    )
    return and_(~has_tasks(*LEFT_TO_DO), ~live.exists())


def has_tasks(*states: TaskState) -> ColumnElement[bool]:
    """Has the campaign of the statement around it tasks in one of these states, by the counters of triggers?"""
    counted = select(TaskCount.c.campaign_id).where(
        TaskCount.c.campaign_id == Campaign.c.id, TaskCount.c.state.in_(states)
    )
    return counted.group_by(TaskCount.c.campaign_id).having(func.sum(TaskCount.c.n) > 0).exists()
