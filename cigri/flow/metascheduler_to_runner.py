"""The metascheduler has prologues and epilogues run on clusters, and ends campaigns that have nothing left to do."""

from datetime import datetime

from sqlalchemy import Connection, Integer, and_, cast, func, insert, literal, or_, select, update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import clock
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.states import CampaignState, EventLevel, JobKind, JobState, StepState, TaskState
from cigri.tables import Campaign, CampaignCluster, Cluster, Event, Job, TaskCount


def put_prologues(conn: Connection, now: datetime | None = None) -> int:
    """A prologue job for each campaign with waiting tasks on each usable cluster that has not had it."""
    part = CampaignCluster
    treated = _hold(conn, select(part.campaign_id).where(part.prologue == StepState.WAITING))
    if not treated:
        return 0
    due = conn.execute(
        update(part)
        .where(
            part.prologue == StepState.WAITING,
            part.campaign_id.in_(treated),
            part.campaign_id == Campaign.id,
            part.cluster_id == Cluster.id,
            Cluster.is_enabled,
            Cluster.failures == 0,
            _is_not_set_aside(now),
            _has_tasks(TaskState.WAITING),
        )
        .values(prologue=StepState.RUNNING)
        .returning(part.campaign_id, part.cluster_id)
    ).all()
    _put(conn, [(row.campaign_id, row.cluster_id) for row in due], JobKind.PROLOGUE, now)
    return len(due)


def put_epilogues(conn: Connection, now: datetime | None = None) -> int:
    """An epilogue job on each cluster that has taken jobs of a campaign, once all its tasks are over.

    Where it took none there is nothing to end, and the epilogue counts as done.
    """
    part = CampaignCluster
    here = and_(Job.campaign_id == part.campaign_id, Job.cluster_id == part.cluster_id)
    ran = select(Job.id).where(here, Job.submitted_at.is_not(None)).exists()
    treated = _hold(conn, select(part.campaign_id).where(part.epilogue == StepState.WAITING))
    if not treated:
        return 0
    over = and_(
        part.epilogue == StepState.WAITING,
        part.campaign_id.in_(treated),
        part.campaign_id == Campaign.id,
        _is_over(),
    )
    conn.execute(update(part).where(over, ~ran).values(epilogue=StepState.DONE))
    due = conn.execute(
        update(part)
        .where(over, ran, _is_not_set_aside(now))
        .where(part.cluster_id == Cluster.id, Cluster.is_enabled, Cluster.failures == 0)
        .values(epilogue=StepState.RUNNING)
        .returning(part.campaign_id, part.cluster_id)
    ).all()
    _put(conn, [(row.campaign_id, row.cluster_id) for row in due], JobKind.EPILOGUE, now)
    return len(due)


def close_campaigns(conn: Connection, now: datetime | None = None) -> int:
    """End the campaigns whose tasks are all over, whose steps are done and whose failures nobody still looks at."""
    part = CampaignCluster
    steps = select(part.campaign_id).where(
        part.campaign_id == Campaign.id, part.epilogue.in_((StepState.WAITING, StepState.RUNNING))
    )
    failures = select(Event.id).where(
        Event.campaign_id == Campaign.id, Event.closed_at.is_(None), Event.code.in_(("TASK_FAILED", "EPILOGUE_FAILED"))
    )
    idle = and_(_is_over(), ~steps.exists(), ~failures.exists())
    treated = _hold(conn, select(Campaign.id).where(idle))
    if not treated:
        return 0
    # looked at again now that nobody can add a task meanwhile
    ended = conn.execute(
        update(Campaign)
        .where(Campaign.id.in_(treated), idle)
        .values(state=CampaignState.TERMINATED, ended_at=clock(now))
        .returning(Campaign.id, Campaign.name)
    ).all()
    put_events(
        conn,
        [
            NewEvent("FINISHED", EventLevel.INFO, f"campaign {row.id}", f"campaign {row.name} has ended", row.id)
            for row in ended
        ],
        now,
    )
    return len(ended)


def _hold(conn: Connection, wanted: Select[int]) -> list[int]:
    """Those of the wanted campaigns that are in treatment, kept so until the end of the transaction.

    One that its user is just changing is left for the next cycle.
    """
    held = select(Campaign.id).where(Campaign.state == CampaignState.IN_TREATMENT, Campaign.id.in_(wanted))
    return list(conn.scalars(held.order_by(Campaign.id).with_for_update(skip_locked=True)))


def _is_over() -> ColumnElement[bool]:
    """Of the campaign in the statement around it: no task waits or is assigned, no job with tasks lives."""
    live = select(Job.id).where(
        Job.campaign_id == Campaign.id, Job.state != JobState.ENDED, Job.kind != JobKind.EPILOGUE
    )
    return and_(~_has_tasks(TaskState.WAITING, TaskState.ASSIGNED), ~live.exists())


def _has_tasks(*states: TaskState) -> ColumnElement[bool]:
    """Of the campaign in the statement around it."""
    counted = select(TaskCount.campaign_id).where(TaskCount.campaign_id == Campaign.id, TaskCount.state.in_(states))
    return counted.group_by(TaskCount.campaign_id).having(func.sum(TaskCount.n) > 0).exists()


def _is_not_set_aside(now: datetime | None) -> ColumnElement[bool]:
    blocked_until = CampaignCluster.blocked_until
    return or_(blocked_until.is_(None), blocked_until <= clock(now))


def _put(conn: Connection, where: list[tuple[int, int]], kind: JobKind, now: datetime | None) -> None:
    for campaign_id, cluster_id in where:
        part = CampaignCluster
        own = cast(part.settings[f"{kind.value}_walltime"].astext, Integer)
        walltime = func.coalesce(own, cast(part.settings["walltime"].astext, Integer))
        chosen = select(
            part.campaign_id,
            part.cluster_id,
            literal(kind, Job.kind.type),
            literal(JobState.TO_LAUNCH, Job.state.type),
            literal(1),
            walltime,
            clock(now),
        ).where(part.campaign_id == campaign_id, part.cluster_id == cluster_id)
        columns = ["campaign_id", "cluster_id", "kind", "state", "width", "walltime", "created_at"]
        conn.execute(insert(Job).from_select(columns, chosen))
