"""Fixes: what a user says of events: done with, perhaps with the task done again; results that are right, or not.
Given by: operator, users.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, and_, func, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import IDS, values_table, wake
from cigri.errors import CigriError
from cigri.flow.campaign_totals import changed_totals, totals
from cigri.flow.campaigns import reopen_campaign
from cigri.flow.doubtful_results import DOUBTED
from cigri.flow.error_budgets import DO_NOTHING, JOBS_STUCK, NOT_SUBMITTED, SET_ASIDE
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.flow.parcels import forget_parcels
from cigri.flow.task_durations import relearn_durations
from cigri.flow.tasks import redo_failed
from cigri.flow.views.ownership import is_own
from cigri.identity.callers import Caller
from cigri.lifecycle.verdicts import FIRST_IN_LINE
from cigri.states import EventLevel, Outcome, StepState, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task
from cigri.tables.transitions import transition_to

RULE_BROKEN = "ADMISSION_RULE_BROKEN"
STEP_COLUMNS = {"PROLOGUE_FAILED": CampaignCluster.c.prologue, "EPILOGUE_FAILED": CampaignCluster.c.epilogue}


def fix_events(conn: Connection, event_ids: Iterable[int], caller: Caller, *, resubmit: bool) -> int:
    """Close open events of the caller's campaigns; `resubmit` puts the failed tasks they are about back in line.

    Closing the event of a cluster set aside for a campaign gives the campaign that cluster again at once. Doubted
    results are believed, or their tasks done again.
    """
    wanted = values_table("wanted", IDS, [(event_id,) for event_id in event_ids])
    fixed = conn.execute(
        update(Event)
        .where(
            Event.c.id == wanted.c.id,
            Event.c.closed_at.is_(None),
            Event.c.campaign_id == Campaign.c.id,
            is_own(caller),
        )
        .values(closed_at=func.now(), closed_by=caller.user)
        .returning(Event.c.code, Event.c.campaign_id, Event.c.cluster_id, Event.c.task_id)
    ).all()
    redone: set[int] = set()
    for row in fixed:
        part = CampaignCluster
        here = and_(part.c.campaign_id == row.campaign_id, part.c.cluster_id == row.cluster_id)
        if row.code in (SET_ASIDE, NOT_SUBMITTED, DO_NOTHING, JOBS_STUCK):
            anew = dict.fromkeys(("errors", "strikes", "failed_sends", "idle_deaths"), 0)
            conn.execute(update(part).where(here).values(**anew, blocked_until=None))
        elif row.code == DOUBTED and not resubmit:
            believe(conn, row.campaign_id, row.cluster_id)
        elif row.code == DOUBTED and redo_doubted(conn, row.campaign_id, row.cluster_id):
            redone.add(row.campaign_id)
        elif row.code in STEP_COLUMNS and resubmit:
            conn.execute(
                transition_to(STEP_COLUMNS[row.code], StepState.WAITING, out_of=[StepState.FAILED]).where(here)
            )
    if resubmit:
        tasks = [row.task_id for row in fixed if row.task_id is not None]
        again = (
            set(redo_failed(conn, tasks).values())
            | {row.campaign_id for row in fixed if row.code in STEP_COLUMNS}
            | redone
        )
        for campaign_id in again:
            reopen_campaign(conn, campaign_id, caller.user)
    if fixed:
        wake(conn)
    return len(fixed)


def fix_global_events(conn: Connection, event_ids: Iterable[int], caller: Caller) -> int:
    """Close open events that concern no campaign; clusters paused after failures are visited again at once."""
    wanted = values_table("wanted", IDS, [(event_id,) for event_id in event_ids])
    fixed = conn.execute(
        update(Event)
        .where(Event.c.id == wanted.c.id, Event.c.closed_at.is_(None), Event.c.campaign_id.is_(None))
        .values(closed_at=func.now(), closed_by=caller.user)
        .returning(Event.c.cluster_id)
    ).all()
    clusters = {row.cluster_id for row in fixed if row.cluster_id is not None}
    conn.execute(
        update(Cluster)
        .where(Cluster.c.id.in_(clusters), Cluster.c.failures > 0)
        .values(failures=0, blocked_until=None, visited_at=None)
    )
    if fixed:
        wake(conn)
    return len(fixed)


def put_broken_rule(conn: Connection, user: str, rule: str, said: str) -> None:
    """Tell the operator: until the admission rule is mended nobody can submit what it is asked about."""
    message = f"a campaign of user {user} was refused: {said}"
    put_events(conn, [NewEvent(RULE_BROKEN, EventLevel.ERROR, f"admission rule {rule}", message)])


def end_broken_rules(conn: Connection) -> None:
    """Close the events about admission rules, for every one of them has answered."""
    subjects = conn.scalars(select(Event.c.subject).where(Event.c.code == RULE_BROKEN, Event.c.closed_at.is_(None)))
    close_events(conn, [RULE_BROKEN], subjects.all(), "cigri")


def believe(conn: Connection, campaign_id: int, cluster_id: int) -> None:
    """The doubted results of a campaign on a cluster count again, and what its tasks do there is doubted no more."""
    part = CampaignCluster
    lasted = conn.scalars(
        transition_to(Attempt.c.outcome, Outcome.SUCCESS, out_of=[Outcome.DOUBTFUL])
        .where(Attempt.c.job_id == Job.c.id, _is_last())
        .where(Job.c.campaign_id == campaign_id, Job.c.cluster_id == cluster_id)
        .returning(Attempt.c.seconds)
    ).all()
    more = totals([seconds or 0.0 for seconds in lasted]) if lasted else {}
    settled = {"doubted": 0, "doubted_below": None, "sink_since": None, "is_trusted": True}
    values = (changed_totals() if lasted else {}) | settled
    conn.execute(update(part).where(_here(campaign_id, cluster_id)).values(values), more)
    relearn_durations(conn, campaign_id, cluster_id)


def redo_doubted(conn: Connection, campaign_id: int, cluster_id: int) -> bool:
    """Let doubted tasks wait again, with a clean past, and try the cluster with one job; False: there were none.

    Raise CigriError as long as another attempt at one of them, which was too late, has not ended.
    """
    doubted = (
        select(Attempt.c.task_id)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .where(Job.c.campaign_id == campaign_id, Job.c.cluster_id == cluster_id)
        .where(Attempt.c.outcome == Outcome.DOUBTFUL, _is_last())
    )
    late = select(Attempt.c.job_id).where(Attempt.c.task_id.in_(doubted), Attempt.c.outcome.is_(None)).limit(1)
    if (job_id := conn.scalar(late)) is not None:
        raise CigriError(f"job {job_id} is still being killed, which runs such a task; try again when it has ended")
    again = dict.fromkeys(("failures", "deaths", "resubmissions", "checkpoints"), 0)
    anew = {"priority": FIRST_IN_LINE, "checkpoint_cluster_id": None, "stopped_at": None}
    moved = conn.execute(
        transition_to(Task.c.state, TaskState.WAITING, out_of=[TaskState.DONE])
        .where(Task.c.id.in_(doubted))
        .values(**again, **anew)
        .returning(Task.c.id)
    ).all()
    forget_parcels(conn, [row.id for row in moved])
    settled = {"doubted": 0, "sink_since": None}
    conn.execute(update(CampaignCluster).where(_here(campaign_id, cluster_id)).values(settled))
    return bool(moved)


def _is_last() -> ColumnElement[bool]:
    """No other attempt has counted since."""
    later = Attempt.alias()
    after = later.c.task_id == Attempt.c.task_id, later.c.number > Attempt.c.number
    return ~select(later.c.task_id).where(*after, later.c.outcome.is_distinct_from(Outcome.SUPERSEDED)).exists()


def _here(campaign_id: int, cluster_id: int) -> ColumnElement[bool]:
    part = CampaignCluster
    return and_(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
