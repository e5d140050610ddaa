"""The metascheduler has prologues and epilogues run on clusters, and ends campaigns that have nothing left to do."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, Integer, and_, cast, func, insert, literal, or_, select, tuple_
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import clock
from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.user_to_anyone import is_share_held
from cigri.states import CampaignState, EventLevel, JobKind, JobState, StepState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Job
from cigri.tables.moves import begun, moving
from cigri.tables.tasks import TaskCount


def put_prologues(conn: Connection, now: datetime | None = None, shut: Collection[tuple[int, int]] = ()) -> int:
    """A prologue job for each campaign with waiting tasks on each usable cluster that has not had it.

    `shut`: campaigns and clusters where the hours do not allow it.
    """
    part = CampaignCluster
    treated = _hold(conn, select(part.c.campaign_id).where(part.c.prologue == StepState.WAITING))
    if not treated:
        return 0
    due = conn.execute(
        moving(part.c.prologue, StepState.RUNNING)
        .where(
            part.c.campaign_id.in_(treated),
            part.c.campaign_id == Campaign.c.id,
            part.c.cluster_id == Cluster.c.id,
            Cluster.c.is_enabled,
            Cluster.c.failures == 0,
            _is_free(shut, now),
            _has_tasks(TaskState.WAITING),
        )
        .returning(part.c.campaign_id, part.c.cluster_id)
    ).all()
    _put(conn, [(row.campaign_id, row.cluster_id) for row in due], JobKind.PROLOGUE, now)
    return len(due)


def put_epilogues(conn: Connection, now: datetime | None = None, shut: Collection[tuple[int, int]] = ()) -> int:
    """An epilogue job on each cluster that has taken jobs of a campaign, once all its tasks are over.

    Where it took none there is nothing to end, and the epilogue counts as done.
    """
    part = CampaignCluster
    here = and_(Job.c.campaign_id == part.c.campaign_id, Job.c.cluster_id == part.c.cluster_id)
    ran = select(Job.c.id).where(here, Job.c.submitted_at.is_not(None)).exists()
    treated = _hold(conn, select(part.c.campaign_id).where(part.c.epilogue == StepState.WAITING))
    if not treated:
        return 0
    over = and_(part.c.campaign_id.in_(treated), part.c.campaign_id == Campaign.c.id, _is_over())
    conn.execute(moving(part.c.epilogue, StepState.DONE, out_of=[StepState.WAITING]).where(over, ~ran))
    due = conn.execute(
        moving(part.c.epilogue, StepState.RUNNING)
        .where(over, ran, _is_free(shut, now))
        .where(part.c.cluster_id == Cluster.c.id, Cluster.c.is_enabled, Cluster.c.failures == 0)
        .returning(part.c.campaign_id, part.c.cluster_id)
    ).all()
    _put(conn, [(row.campaign_id, row.cluster_id) for row in due], JobKind.EPILOGUE, now)
    return len(due)


def close_campaigns(conn: Connection, now: datetime | None = None) -> int:
    """End the campaigns whose tasks and steps are all over, and whose failures and doubts nobody still looks at."""
    part = CampaignCluster
    steps = select(part.c.campaign_id).where(
        part.c.campaign_id == Campaign.c.id, part.c.epilogue.in_((StepState.WAITING, StepState.RUNNING))
    )
    failures = select(Event.c.id).where(
        Event.c.campaign_id == Campaign.c.id,
        Event.c.closed_at.is_(None),
        Event.c.code.in_(("TASK_FAILED", "EPILOGUE_FAILED", "RESULTS_DOUBTED")),
    )
    idle = and_(_is_over(), ~steps.exists(), ~failures.exists())
    treated = _hold(conn, select(Campaign.c.id).where(idle))
    if not treated:
        return 0
    # looked at again now that nobody can add a task meanwhile
    ended = conn.execute(
        moving(Campaign.c.state, CampaignState.TERMINATED)
        .where(Campaign.c.id.in_(treated), idle)
        .values(ended_at=clock(now))
        .returning(Campaign.c.id, Campaign.c.name)
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
    held = select(Campaign.c.id).where(Campaign.c.state == CampaignState.IN_TREATMENT, Campaign.c.id.in_(wanted))
    return list(conn.scalars(held.order_by(Campaign.c.id).with_for_update(skip_locked=True)))


def _is_over() -> ColumnElement[bool]:
    """Of the campaign in the statement around it: no task waits or is assigned, no job with tasks lives."""
    live = select(Job.c.id).where(
        Job.c.campaign_id == Campaign.c.id, Job.c.state != JobState.ENDED, Job.c.kind != JobKind.EPILOGUE
    )
    return and_(~_has_tasks(TaskState.WAITING, TaskState.ASSIGNED), ~live.exists())


def _has_tasks(*states: TaskState) -> ColumnElement[bool]:
    """Of the campaign in the statement around it."""
    counted = select(TaskCount.c.campaign_id).where(
        TaskCount.c.campaign_id == Campaign.c.id, TaskCount.c.state.in_(states)
    )
    return counted.group_by(TaskCount.c.campaign_id).having(func.sum(TaskCount.c.n) > 0).exists()


def _is_free(shut: Collection[tuple[int, int]], now: datetime | None) -> ColumnElement[bool]:
    """Neither set aside after failures, nor held by the user, nor outside the hours."""
    part = CampaignCluster
    is_in_use = or_(part.c.blocked_until.is_(None), part.c.blocked_until <= clock(now))
    is_open = tuple_(part.c.campaign_id, part.c.cluster_id).not_in([tuple(share) for share in shut])
    return and_(is_in_use, is_open, ~is_share_held(part.c.campaign_id, part.c.cluster_id))


def _put(conn: Connection, where: list[tuple[int, int]], kind: JobKind, now: datetime | None) -> None:
    for campaign_id, cluster_id in where:
        part = CampaignCluster
        own = cast(part.c.settings[f"{kind.value}_walltime"].astext, Integer)
        walltime = func.coalesce(own, cast(part.c.settings["walltime"].astext, Integer))
        chosen = select(
            part.c.campaign_id,
            part.c.cluster_id,
            literal(kind, Job.c.kind.type),
            literal(begun(Job.c.state, JobState.TO_LAUNCH), Job.c.state.type),
            literal(1),
            walltime,
            clock(now),
        ).where(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
        columns = ["campaign_id", "cluster_id", "kind", "state", "width", "walltime", "created_at"]
        conn.execute(insert(Job).from_select(columns, chosen))
