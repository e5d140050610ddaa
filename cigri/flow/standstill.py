"""Standing still: for how long held and suspended jobs did, which is no time of theirs, nor of their tasks.
Taken by: metascheduler, operator, runner, updator, users.
"""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, case, func, or_, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.database import IDS, bound_values_table, interval, rows_as_json
from cigri.database.typed_rows import read_by
from cigri.states import JobState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.job_requests import Suspension
from cigri.tables.jobs import Attempt, Job

CLOCKS_SLACK = 60.0  # seconds by which what a cluster tells may contradict what was seen of it


class Standstill(NamedTuple):
    """Seconds for which a job stood still before, and with what is perhaps not over; `side`: its tasks at a time.

    `told`: how much of that its tasks that have ended were told.
    """

    before: float
    whole: float
    side: int
    told: float


def list_standstills(conn: Connection, job_ids: Collection[int]) -> dict[int, Standstill]:
    """By job, of those that have stood still since they run."""
    wanted = {"wanted": rows_as_json(IDS, [(id,) for id in job_ids])}
    return read_by(conn, "job_id", Standstill, _standstills(), wanted)


def halted_from() -> ColumnElement[datetime]:
    """Since when a job that is seen to stand still does: since we told it to while it ran, or since now."""
    begun = func.greatest(Suspension.c.sent_at, Job.c.running_from)
    told = select(begun).where(Suspension.c.job_id == Job.c.id, Suspension.c.is_wanted, Job.c.running_from.is_not(None))
    return func.coalesce(told.where(Suspension.c.state == JobState.RUNNING).scalar_subquery(), func.now())


def seconds_halted() -> ColumnElement[float]:
    """How long the last standstill of a job lasted: until it was last told to go on, or was missing, or until now.

    0.0 where there was none.
    """
    is_of_this = and_(Suspension.c.job_id == Job.c.id, Suspension.c.sent_at >= Job.c.halted_since)
    told = select(Suspension.c.sent_at).where(is_of_this, ~Suspension.c.is_wanted).scalar_subquery()
    until = func.coalesce(told, func.least(Job.c.missing_since, func.now()))
    seconds = func.greatest(func.extract("epoch", until - Job.c.halted_since), 0.0)
    return case((Job.c.halted_since.is_not(None), seconds), else_=0.0)


def ran_seconds(lasted: ColumnElement[float | None]) -> ColumnElement[float]:
    """How long a job ran: by the clock of its node, from the first of its tasks' records to the last, or as is told.

    It is never longer than since it was submitted, nor shorter, but for CLOCKS_SLACK, than it was seen to run, and just
    so long where nothing is told. What it stood still does not count. NULL where it was neither seen nor told of.
    """
    end = Attempt.c.started_at + interval(Attempt.c.seconds + Attempt.c.halted_seconds)
    records = select(func.extract("epoch", func.max(end) - func.min(Attempt.c.started_at)))
    told = func.coalesce(lasted, records.where(Attempt.c.job_id == Job.c.id).correlate(Job).scalar_subquery())
    visited = select(Cluster.c.visited_at).where(Cluster.c.id == Job.c.cluster_id).correlate(Job).scalar_subquery()
    seen = func.extract("epoch", func.least(visited, Job.c.missing_since) - Job.c.running_from)
    least = case((told.is_not(None), seen - CLOCKS_SLACK), (Job.c.running_from.is_not(None), func.greatest(seen, 0.0)))
    most = func.extract("epoch", func.now() - Job.c.submitted_at)
    halted = case((Job.c.running_from.is_not(None), Job.c.halted_seconds + seconds_halted()), else_=0.0)
    ran = func.least(func.greatest(told, least), most)
    return case((func.coalesce(told, least).is_not(None), func.greatest(ran - halted, 0.0)))


@cache
def _standstills() -> Select[*tuple[Any, ...]]:
    wanted, part = bound_values_table("wanted", IDS), CampaignCluster.c
    told = select(func.coalesce(func.sum(Attempt.c.halted_seconds), 0.0)).where(Attempt.c.job_id == Job.c.id)
    return (
        select(Job.c.id.label("job_id"), Job.c.halted_seconds.label("before"))
        .add_columns((Job.c.halted_seconds + seconds_halted()).label("whole"))
        .add_columns(func.greatest(Job.c.width // part.width, 1, type_=BigInteger).label("side"))
        .add_columns(told.correlate(Job).scalar_subquery().label("told"))
        .join(wanted, wanted.c.id == Job.c.id)
        .join(CampaignCluster, and_(part.campaign_id == Job.c.campaign_id, part.cluster_id == Job.c.cluster_id))
        .where(Job.c.running_from.is_not(None))
        .where(or_(Job.c.halted_seconds > 0, Job.c.halted_since.is_not(None)))
    )
