"""Steps: prologues before the first task of a campaign on a cluster, epilogues after the last.
Given by: metascheduler.
"""

from collections.abc import Collection

from sqlalchemy import Connection, Integer, and_, cast, func, insert, literal, or_, select, tuple_
from sqlalchemy.sql.elements import ColumnElement

from cigri.flow.campaigns import has_tasks, is_over, keep_in_treatment
from cigri.flow.views.job_destinations import is_share_held
from cigri.states import JobKind, JobState, StepState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Job
from cigri.tables.transitions import initial_state, transition_to


def put_prologues(conn: Connection, shut: Collection[tuple[int, int]] = ()) -> int:
    """A prologue job for each campaign with waiting tasks on each usable cluster that has not had it.

    `shut`: campaigns and clusters where the hours do not allow it.
    """
    part = CampaignCluster
    treated = keep_in_treatment(conn, select(part.c.campaign_id).where(part.c.prologue == StepState.WAITING))
    if not treated:
        return 0
    due = conn.execute(
        transition_to(part.c.prologue, StepState.RUNNING)
        .where(
            part.c.campaign_id.in_(treated),
            part.c.campaign_id == Campaign.c.id,
            part.c.cluster_id == Cluster.c.id,
            Cluster.c.is_enabled,
            Cluster.c.failures == 0,
            _is_free(shut),
            has_tasks(TaskState.WAITING),
        )
        .returning(part.c.campaign_id, part.c.cluster_id)
    ).all()
    _put(conn, [(row.campaign_id, row.cluster_id) for row in due], JobKind.PROLOGUE)
    return len(due)


def put_epilogues(conn: Connection, shut: Collection[tuple[int, int]] = ()) -> int:
    """An epilogue job on each cluster that has taken jobs of a campaign, once all its tasks are over.

    Where it took none there is nothing to end, and the epilogue counts as done.
    """
    part = CampaignCluster
    here = and_(Job.c.campaign_id == part.c.campaign_id, Job.c.cluster_id == part.c.cluster_id)
    ran = select(Job.c.id).where(here, Job.c.submitted_at.is_not(None)).exists()
    treated = keep_in_treatment(conn, select(part.c.campaign_id).where(part.c.epilogue == StepState.WAITING))
    if not treated:
        return 0
    over = and_(part.c.campaign_id.in_(treated), part.c.campaign_id == Campaign.c.id, is_over())
    conn.execute(transition_to(part.c.epilogue, StepState.DONE, out_of=[StepState.WAITING]).where(over, ~ran))
    due = conn.execute(
        transition_to(part.c.epilogue, StepState.RUNNING)
        .where(over, ran, _is_free(shut))
        .where(part.c.cluster_id == Cluster.c.id, Cluster.c.is_enabled, Cluster.c.failures == 0)
        .returning(part.c.campaign_id, part.c.cluster_id)
    ).all()
    _put(conn, [(row.campaign_id, row.cluster_id) for row in due], JobKind.EPILOGUE)
    return len(due)


def _is_free(shut: Collection[tuple[int, int]]) -> ColumnElement[bool]:
    """Neither set aside after failures, nor held by the user, nor outside the hours."""
    part = CampaignCluster
    is_in_use = or_(part.c.blocked_until.is_(None), part.c.blocked_until <= func.now())
    is_open = tuple_(part.c.campaign_id, part.c.cluster_id).not_in([tuple(share) for share in shut])
    return and_(is_in_use, is_open, ~is_share_held(part.c.campaign_id, part.c.cluster_id))


def _put(conn: Connection, where: list[tuple[int, int]], kind: JobKind) -> None:
    for campaign_id, cluster_id in where:
        part = CampaignCluster
        own = cast(part.c.settings[f"{kind.value}_walltime"].astext, Integer)
        walltime = func.coalesce(own, cast(part.c.settings["walltime"].astext, Integer))
        chosen = select(
            part.c.campaign_id,
            part.c.cluster_id,
            literal(kind, Job.c.kind.type),
            literal(initial_state(Job.c.state, JobState.TO_LAUNCH), Job.c.state.type),
            literal(1),
            walltime,
            func.now(),
        ).where(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
        columns = ["campaign_id", "cluster_id", "kind", "state", "width", "walltime", "created_at"]
        conn.execute(insert(Job).from_select(columns, chosen))
