"""How long tasks last and how jobs start and die, by which jobs are sized.
Read by: campaign schedulers.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, and_, cast, func, select, true
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION
from sqlalchemy.sql.selectable import LateralFromClause

from cigri.database.typed_rows import read_all, read_by
from cigri.jdl.cluster_settings import tasks_side_by_side
from cigri.states import WAITING_JOBS, JobState, Outcome, TaskState
from cigri.tables.campaigns import CampaignCluster
from cigri.tables.clusters import Cluster, ClusterRate, ClusterState
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import TaskCount

RECENT = 100  # jobs that ended last
DEATHS = (Outcome.PREEMPTED, Outcome.NODE_FAILURE, Outcome.LOST)


class JobSizingStatistics(NamedTuple):
    """A campaign on one cluster: its successful tasks in all, its `live` jobs, and those that ended there last.

    Its tasks may run one after the other in a job (`is_temporal`), and as many as `side_by_side` side by side on a
    node. `duration_sum` and `duration_square_sum` are sums over the `done` tasks; `starts` is when each of the last
    jobs began, in epoch seconds; `deaths` of them were killed, and all together they lasted `job_seconds` seconds.
    `waiting` tasks, anywhere. `under_way`: seconds for which those tasks that are alone in their jobs had been running
    at the last visit. `carried`: tasks of the live jobs. `cycle`: seconds between two looks at the cluster.
    """

    campaign_id: int
    cluster_id: int
    is_temporal: bool
    side_by_side: int
    done: int
    duration_sum: float
    duration_square_sum: float
    live: int
    starts: list[float]
    deaths: int
    job_seconds: float
    waiting: int
    under_way: float
    carried: int
    cycle: float


class DurationStatistics(NamedTuple):
    """A campaign on one cluster: cores and walltime of a job, and what its `done` tasks and the cluster tell.

    `duration_sum`: sum of the tasks' durations, `durations` as in estimates/durations.py; `delay`: seconds that a job
    waits even if cores are free; `hazard`: kills per core-second. `speed` of the cluster in earlier campaigns; of the
    done tasks `known` were expected to take `expected` seconds: estimates/speeds.py. `cycle`: seconds between two looks
    there.
    """

    cluster_id: int
    width: int
    walltime: int
    done: int
    duration_sum: float
    durations: Sequence[int]
    delay: float
    hazard: float
    speed: float | None = None
    known: int = 0
    expected: float = 0.0
    cycle: float = 0.0


class LiveJobTotals(NamedTuple):
    """`running` jobs of a campaign on a cluster, which have run for `ran` seconds in all; others wait, or find room."""

    running: int
    ran: float
    waiting: int
    free: int


def list_live_job_totals(conn: Connection, campaign_id: int) -> dict[int, LiveJobTotals]:
    """By cluster id, for each cluster of the campaign; its free cores are counted in jobs of the campaign's width."""
    part = CampaignCluster
    age = func.greatest(func.extract("epoch", func.now() - Job.c.started_at) - Job.c.halted_seconds, 0.0)
    runs, waits = Job.c.started_at.is_not(None), Job.c.state.in_(WAITING_JOBS)
    live = (
        select(
            Job.c.cluster_id,
            func.count().filter(runs).label("running"),
            cast(func.sum(age).filter(runs), DOUBLE_PRECISION).label("ran"),
            func.count().filter(waits).label("waiting"),
        )
        .where(Job.c.campaign_id == campaign_id, Job.c.state != JobState.ENDED)
        .group_by(Job.c.cluster_id)
        .subquery()
    )
    statement = (
        select(
            part.c.cluster_id,
            func.coalesce(live.c.running, 0).label("running"),
            func.coalesce(live.c.ran, 0.0).label("ran"),
            func.coalesce(live.c.waiting, 0).label("waiting"),
            (func.coalesce(ClusterState.c.free, 0) // part.c.width).label("free"),
        )
        .outerjoin(live, live.c.cluster_id == part.c.cluster_id)
        .outerjoin(ClusterState, ClusterState.c.cluster_id == part.c.cluster_id)
        .where(part.c.campaign_id == campaign_id)
    )
    return read_by(conn, "cluster_id", LiveJobTotals, statement)


def list_duration_statistics(conn: Connection, campaign_id: int) -> list[DurationStatistics]:
    """The campaign on each of its clusters, sorted by cluster id."""
    part = CampaignCluster
    statement = (
        select(
            part.c.cluster_id,
            part.c.width,
            part.c.settings["walltime"].as_integer().label("walltime"),
            part.c.done,
            part.c.seconds.label("duration_sum"),
            part.c.durations,
            func.coalesce(ClusterRate.c.queue_delay, 0.0).label("delay"),
            func.coalesce(ClusterRate.c.hazard, 0.0).label("hazard"),
            part.c.speed,
            part.c.known,
            part.c.expected,
            func.coalesce(ClusterRate.c.cycle, 0.0).label("cycle"),
        )
        .outerjoin(ClusterRate, ClusterRate.c.cluster_id == part.c.cluster_id)
        .where(part.c.campaign_id == campaign_id)
        .order_by(part.c.cluster_id)
    )
    return read_all(conn, DurationStatistics, statement)


def list_job_sizing_statistics(conn: Connection, campaign_ids: Collection[int]) -> list[JobSizingStatistics]:
    """Each of these campaigns on each of its clusters, in no certain order."""
    part = CampaignCluster
    crew, recent = _crew(), _recent()
    is_waiting = and_(TaskCount.c.campaign_id == part.c.campaign_id, TaskCount.c.state == TaskState.WAITING)
    waiting = select(func.coalesce(func.sum(TaskCount.c.n), 0)).where(is_waiting).scalar_subquery()
    statement = (
        select(
            part.c.campaign_id,
            part.c.cluster_id,
            func.coalesce(part.c.settings["temporal_grouping"].as_boolean(), true()).label("is_temporal"),
            part.c.done,
            part.c.seconds.label("duration_sum"),
            part.c.squares.label("duration_square_sum"),
            crew.c.live,
            cast(func.coalesce(recent.c.starts, []), ARRAY(DOUBLE_PRECISION)).label("starts"),
            recent.c.deaths,
            cast(func.coalesce(recent.c.lived, 0.0), DOUBLE_PRECISION).label("job_seconds"),
            cast(waiting, BigInteger).label("waiting"),
            cast(func.coalesce(crew.c.under_way, 0.0), DOUBLE_PRECISION).label("under_way"),
            cast(func.coalesce(crew.c.carried, 0), BigInteger).label("carried"),
            func.coalesce(ClusterRate.c.cycle, 0.0).label("cycle"),
            func.coalesce(Cluster.c.config["node_cores"].as_integer(), 1).label("node_cores"),
            part.c.width,
            part.c.settings,
        )
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .outerjoin(ClusterRate, ClusterRate.c.cluster_id == part.c.cluster_id)
        .join(crew, true())
        .join(recent, true())
        .where(part.c.campaign_id.in_(campaign_ids))
    )
    return read_all(conn, JobSizingStatistics, statement, side_by_side=_side)


def _side(row: Row[*tuple[Any, ...]]) -> int:
    return tasks_side_by_side(row.node_cores, row.width, row.settings)


def _is_here() -> ColumnElement[bool]:
    """Is the job of the share in the statement around it?"""
    part = CampaignCluster.c
    return and_(Job.c.campaign_id == part.campaign_id, Job.c.cluster_id == part.cluster_id)


def _crew() -> LateralFromClause:
    """Of a share's jobs that have not ended: their number, the seconds of single tasks under way, tasks carried."""
    age = func.extract("epoch", ClusterState.c.at - Job.c.started_at) - Job.c.halted_seconds
    load = select(func.max(Attempt.c.position)).where(Attempt.c.job_id == Job.c.id).scalar_subquery()
    live = (
        select(
            and_(Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None)).label("runs"),
            func.greatest(age, 0.0).label("age"),
            load.label("load"),
        )
        .select_from(Job)
        .outerjoin(ClusterState, ClusterState.c.cluster_id == Job.c.cluster_id)
        .where(_is_here(), Job.c.state != JobState.ENDED)
        .correlate(CampaignCluster)
        .lateral()
    )
    return select(
        func.count().label("live"),
        func.sum(live.c.age).filter(live.c.runs, live.c.load == 1).label("under_way"),
        func.sum(live.c.load).label("carried"),
    ).lateral()


def _recent() -> LateralFromClause:
    """Of a share's RECENT jobs that ended last: when each started, how many were killed, the seconds of them all."""
    last = (
        select(Job.c.started_at, Job.c.ran_seconds, Job.c.outcome)
        .where(_is_here(), Job.c.state == JobState.ENDED, Job.c.started_at.is_not(None))
        .order_by(Job.c.id.desc())
        .limit(RECENT)
        .correlate(CampaignCluster)
        .lateral()
    )
    return select(
        func.array_agg(func.extract("epoch", last.c.started_at)).label("starts"),
        func.count().filter(last.c.outcome.in_(DEATHS)).label("deaths"),
        func.sum(last.c.ran_seconds).label("lived"),
    ).lateral()
