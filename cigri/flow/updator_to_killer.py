"""What the updator saw of jobs that should no longer be: too many waiting, waiting too long, past their walltime."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Float, cast, func, literal, select, union_all
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select, TableValuedAlias

from cigri.database import clock, rows
from cigri.states import JobKind, JobState, KillReason, StepState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Job
from cigri.tables.wishes import Halt, Kill


class Unwanted(NamedTuple):
    job_id: int
    reason: KillReason


def list_unwanted(
    conn: Connection,
    max_waiting: Mapping[int, int],
    waiting_too_long: float,
    walltime_slack: float,
    now: datetime | None = None,
) -> list[Unwanted]:
    """Jobs on these clusters that nobody has asked to kill yet; `max_waiting` by cluster, the others in seconds."""
    clusters = rows("visited", {"id": BigInteger(), "max_waiting": BigInteger()}, list(max_waiting.items()))
    found = conn.execute(
        union_all(
            _excess(clusters), _waiting_too_long(clusters, waiting_too_long, now), _late(clusters, walltime_slack, now)
        )
    )
    return sorted(Unwanted(job_id, KillReason(reason)) for job_id, reason in found)


def _excess(clusters: TableValuedAlias) -> Select[int, str]:
    """Jobs waiting beyond a cluster's limit, the newest; those that are held are in nobody's way."""
    place = func.row_number().over(partition_by=Job.c.cluster_id, order_by=Job.c.id).label("place")
    waiting = (
        _live(clusters, JobState.SUBMITTED, KillReason.FLOOD)
        .add_columns(clusters.c.max_waiting, place)
        .where(Job.c.halted_since.is_(None))
        .subquery()
    )
    return select(waiting.c.id, waiting.c.reason).where(waiting.c.place > waiting.c.max_waiting)


def _waiting_too_long(clusters: TableValuedAlias, seconds: float, now: datetime | None) -> Select[int, str]:
    """Jobs that have waited longer than `seconds`, of campaigns that have another usable cluster to go to.

    The time for which they were held does not count.
    """
    part = CampaignCluster
    elsewhere = (
        select(part.c.campaign_id)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .where(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id != Job.c.cluster_id)
        .where(part.c.blocked_until.is_(None), part.c.prologue != StepState.FAILED)
        .where(Cluster.c.is_enabled, Cluster.c.failures == 0)
        .exists()
    )
    told = select(Halt.c.job_id).where(Halt.c.job_id == Job.c.id).exists()  # or somebody else holds it
    old = Job.c.submitted_at + _seconds(Job.c.halted_seconds + seconds) <= clock(now)
    waiting = _live(clusters, JobState.SUBMITTED, KillReason.WAITING_TOO_LONG)
    return waiting.where(old, elsewhere, ~told, Job.c.kind == JobKind.TASKS)


def _late(clusters: TableValuedAlias, slack: float, now: datetime | None) -> Select[int, str]:
    """Jobs that have run for longer than their walltime and `slack` seconds, not counting while they were suspended."""
    limit = _seconds(cast(Job.c.walltime, Float) + Job.c.halted_seconds + slack)
    running = _live(clusters, JobState.RUNNING, KillReason.WALLTIME).where(Job.c.halted_since.is_(None))
    return running.where(Job.c.started_at + limit <= clock(now))


def _seconds(number: ColumnElement[float]) -> ColumnElement[timedelta]:
    return func.make_interval(0, 0, 0, 0, 0, 0, number)


def _live(clusters: TableValuedAlias, state: JobState, reason: KillReason) -> Select[int, str]:
    """Jobs in this state that nobody has asked to kill yet, with the reason to do so."""
    asked = select(Kill.c.job_id).where(Kill.c.job_id == Job.c.id, Kill.c.is_open).exists()
    here = select(Job.c.id, literal(reason.value).label("reason")).join(clusters, clusters.c.id == Job.c.cluster_id)
    return here.where(Job.c.state == state, ~asked)
