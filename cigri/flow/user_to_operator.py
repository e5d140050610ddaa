"""A user has dealt with an event: it is fixed, and perhaps the task is to be done again."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, literal, or_, update

from cigri.database import clock, wake
from cigri.flow.user_to_metascheduler import reopen_campaign
from cigri.states import (
    StepState,
    TaskState,
)
from cigri.tables import Campaign, CampaignCluster, Event, Task


def fix_events(
    conn: Connection, event_ids: Iterable[int], user: str, *, resubmit: bool, now: datetime | None = None
) -> int:
    """Close open events of the user's campaigns; `resubmit` puts the failed tasks they are about back in line.

    Closing the event of a cluster set aside for a campaign gives the campaign that cluster again at once.
    """
    wanted = list(event_ids)
    fixed = conn.execute(
        update(Event)
        .where(Event.id.in_(wanted), Event.closed_at.is_(None), Event.campaign_id == Campaign.id)
        .where(or_(Campaign.grid_user == user, literal(user == "root")))
        .values(closed_at=clock(now), closed_by=user)
        .returning(Event.code, Event.campaign_id, Event.cluster_id, Event.task_id)
    ).all()
    aside = [(row.campaign_id, row.cluster_id) for row in fixed if row.code == "CLUSTER_SET_ASIDE"]
    for campaign_id, cluster_id in aside:
        conn.execute(
            update(CampaignCluster)
            .where(CampaignCluster.campaign_id == campaign_id, CampaignCluster.cluster_id == cluster_id)
            .values(errors=0, strikes=0, blocked_until=None)
        )
    for row in fixed:
        if row.code in ("PROLOGUE_FAILED", "EPILOGUE_FAILED") and resubmit:
            step = "prologue" if row.code == "PROLOGUE_FAILED" else "epilogue"
            conn.execute(
                update(CampaignCluster)
                .where(CampaignCluster.campaign_id == row.campaign_id, CampaignCluster.cluster_id == row.cluster_id)
                .values({step: StepState.WAITING})
            )
    tasks = [row.task_id for row in fixed if row.task_id is not None]
    if resubmit and tasks:
        conn.execute(
            update(Task)
            .where(Task.id.in_(tasks), Task.state == TaskState.FAILED)
            .values(state=TaskState.WAITING, priority=20, failures=0, deaths=0, resubmissions=0)
        )
        for campaign_id in {row.campaign_id for row in fixed if row.campaign_id is not None}:
            reopen_campaign(conn, campaign_id)
    wake(conn)
    return len(fixed)
