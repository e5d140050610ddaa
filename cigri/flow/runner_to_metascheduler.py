"""The runner tells how many jobs wait on a cluster, and that a cluster refuses a campaign's jobs."""

from datetime import datetime
from functools import cache

from sqlalchemy import Connection, and_, bindparam, func, select
from sqlalchemy.sql.selectable import Select

from cigri.flow.anyone_to_operator import NewEvent, put_events
from cigri.flow.clusters_to_anyone import add_refusal
from cigri.flow.updator_to_metascheduler import Trial, put_trials
from cigri.settings import BudgetSettings
from cigri.states import EventLevel, JobState
from cigri.tables.jobs import Job


def count_waiting(conn: Connection, cluster_id: int) -> int:
    """Our jobs in the cluster's queue that have not started, or are about to be there; but for held ones."""
    return conn.execute(_waiting(), {"here": cluster_id}).scalar_one()


@cache
def _waiting() -> Select[int]:
    waiting = and_(Job.c.state.in_((JobState.LAUNCHING, JobState.SUBMITTED)), Job.c.halted_since.is_(None))
    return select(func.count()).where(Job.c.cluster_id == bindparam("here"), waiting)


def put_refusal(
    conn: Connection,
    campaign_id: int,
    cluster_id: int,
    cluster_name: str,
    message: str,
    budget: BudgetSettings,
    now: datetime | None = None,
) -> None:
    """A refused batch uses up the whole error budget of the campaign there: the next would be refused as well."""
    subject = f"campaign {campaign_id} on {cluster_name}"
    event = NewEvent("SUBMISSION_REFUSED", EventLevel.INFO, subject, message, campaign_id, cluster_id)
    put_events(conn, [event], now)
    trial = Trial(has_success=False, failures=budget.errors, example=message, is_refusal=True)
    if put_trials(conn, cluster_id, cluster_name, {campaign_id: trial}, budget, now):
        add_refusal(conn, cluster_id)
