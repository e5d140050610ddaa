"""The grid in figures, as those see it who watch many systems.
Read by: portal, users.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Connection, cast, func, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement

from cigri.api_models.metrics import ClusterMetrics, GridMetrics, ModuleMetrics
from cigri.database.typed_rows import read_all
from cigri.estimates.calibration import IntervalOutcome, calibration
from cigri.flow.forecasts import list_told
from cigri.flow.outcome_counts import list_end_counts
from cigri.flow.remote_command_counts import list_commands
from cigri.flow.views.heartbeats import read_heartbeats
from cigri.states import WAITING_JOBS, CampaignState, EventLevel, JobState, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster, ClusterState, FrontEndStress
from cigri.tables.grid import Event, ModuleState
from cigri.tables.jobs import Job
from cigri.tables.sharing import WaitingReason
from cigri.tables.tasks import TaskCount

W = TypeVar("W", bound=StrEnum)

CALIBRATED_FOR = timedelta(days=1)
MOST_CALIBRATED = 100  # campaigns, the last that ended


def find_figures(conn: Connection) -> GridMetrics:
    """All of them, at one instant."""
    pulse, intervals = read_heartbeats(conn), _recent_intervals(conn)
    return GridMetrics(
        pulse.now,
        _counted(conn, CampaignState, Campaign.c.state, func.count()),
        _counted(conn, TaskState, TaskCount.c.state, func.sum(TaskCount.c.n)),
        _counted(conn, EventLevel, Event.c.level, func.count(), Event.c.closed_at.is_(None)),
        _clusters(conn),
        list_end_counts(conn),
        [one if pulse.has_almighty else one._replace(sessions=0) for one in list_commands(conn)],
        _modules(conn),
        pulse.has_almighty,
        calibration(intervals),
        len(pulse.stalled),
        len(intervals),
    )


def _counted(
    conn: Connection, words: type[W], what: ColumnElement[W], number: ColumnElement[int], *which: ColumnElement[bool]
) -> dict[str, int]:
    """Of each word, also if there is none."""
    counted = conn.execute(select(what, number).where(*which).group_by(what))
    return dict.fromkeys(map(str, words), 0) | {str(word): int(found) for word, found in counted}


def _clusters(conn: Connection) -> list[ClusterMetrics]:
    state, job = ClusterState.c, Job.c
    jobs = (
        select(
            job.cluster_id,
            func.count().filter(job.state.in_(WAITING_JOBS)).label("waiting"),
            func.count().filter(job.state == JobState.RUNNING).label("running"),
        )
        .where(job.state != JobState.ENDED)
        .group_by(job.cluster_id)
        .subquery("live")
    )
    reason = WaitingReason.c
    stuck = select(func.sum(reason.jobs)).where(reason.cluster_id == Cluster.c.id, reason.is_stuck).scalar_subquery()
    statement = (
        select(Cluster.c.name.label("cluster"), Cluster.c.is_enabled, Cluster.c.failures)
        .add_columns(_since(Cluster.c.visited_at).label("visited"))
        .add_columns(state.used_by_us.label("ours"), (state.used - state.used_by_us).label("others"))
        .add_columns(state.free, state.unavailable.label("down"))
        .add_columns(func.coalesce(FrontEndStress.c.pace, 1.0).label("pace"), Cluster.c.clock_skew)
        .add_columns(*(func.coalesce(jobs.c[name], 0).label(name) for name in ("waiting", "running")))
        .add_columns(cast(func.coalesce(stuck, 0), BigInteger).label("stuck"))
        .outerjoin(ClusterState, state.cluster_id == Cluster.c.id)
        .outerjoin(FrontEndStress, FrontEndStress.c.cluster_id == Cluster.c.id)
        .outerjoin(jobs, jobs.c.cluster_id == Cluster.c.id)
        .order_by(Cluster.c.name)
    )
    return read_all(conn, ClusterMetrics, statement)


def _modules(conn: Connection) -> list[ModuleMetrics]:
    row = ModuleState.c
    statement = (
        select(row.name, row.passes, row.failures, row.seconds)
        .add_columns(_since(row.started_at).label("age"))
        .add_columns(row.failing_since.is_not(None).label("is_failing"))
        .order_by(row.name)
    )
    return read_all(conn, ModuleMetrics, statement)


def _since(moment: ColumnElement[Any]) -> ColumnElement[float]:
    """Seconds."""
    return cast(func.extract("epoch", func.now() - moment), DOUBLE_PRECISION)


def _recent_intervals(conn: Connection) -> list[IntervalOutcome]:
    recent = (
        select(Campaign.c.id)
        .where(Campaign.c.state == CampaignState.TERMINATED, Campaign.c.ended_at > func.now() - CALIBRATED_FOR)
        .order_by(Campaign.c.ended_at.desc())
        .limit(MOST_CALIBRATED)
    )
    return list_told(conn, conn.scalars(recent).all())
