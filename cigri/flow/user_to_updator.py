"""A user says what becomes of results that the updator doubts: they are right, or the tasks are done again."""

from sqlalchemy import Connection, and_, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.errors import CigriError
from cigri.flow.clusters_to_predictor import learn_anew
from cigri.flow.updator_to_predictor import changed_totals, totals
from cigri.rules.verdicts import FIRST_IN_LINE
from cigri.states import Outcome, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.jobs import Attempt, Job
from cigri.tables.moves import moving
from cigri.tables.tasks import Task


def believe(conn: Connection, campaign_id: int, cluster_id: int) -> None:
    """They count as before, and what tasks of the campaign do there is not doubted again."""
    part = CampaignCluster
    lasted = conn.scalars(
        moving(Attempt.c.outcome, Outcome.SUCCESS, out_of=[Outcome.DOUBTFUL])
        .where(Attempt.c.job_id == Job.c.id, _is_last())
        .where(Job.c.campaign_id == campaign_id, Job.c.cluster_id == cluster_id)
        .returning(Attempt.c.seconds)
    ).all()
    more = totals([seconds or 0.0 for seconds in lasted]) if lasted else {}
    settled = {"doubted": 0, "doubted_below": None, "sink_since": None, "is_trusted": True}
    values = (changed_totals() if lasted else {}) | settled
    conn.execute(update(part).where(_here(campaign_id, cluster_id)).values(values), more)
    learn_anew(conn, campaign_id, cluster_id)


def redo_doubted(conn: Connection, campaign_id: int, cluster_id: int) -> bool:
    """Their tasks wait again, with a clean past: are there any? The cluster is tried again with one job.

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
        moving(Task.c.state, TaskState.WAITING, out_of=[TaskState.DONE])
        .where(Task.c.id.in_(doubted))
        .values(**again, **anew)
        .returning(Task.c.id)
    ).all()
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
