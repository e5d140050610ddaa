"""What the laboratory reads of a run: who wanted and got how much, how tasks and campaigns ended, what was foretold.
Read by: laboratory.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Float, and_, cast, func, or_, select, tuple_

from cigri.database import interval
from cigri.database.typed_rows import read_all
from cigri.flow.doubtful_results import DOUBTED
from cigri.flow.views.job_destinations import list_without_queue
from cigri.states import CampaignState, CampaignType, JobState, Outcome, TaskState
from cigri.tables.campaigns import Campaign, CampaignCluster, ForecastHistory
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Attempt, Job
from cigri.tables.tasks import Task, TaskCount


class CoreDemand(NamedTuple):
    """A campaign in treatment: cores that run for it, and those that its waiting tasks would fill on `clusters`.

    A task whose job waits in the queue of one cluster could have run on any.
    """

    campaign_id: int
    user: str
    running: int
    wanted: int
    clusters: Sequence[str]


class EndedTask(NamedTuple):
    """A task that is done: `ended` is that of the attempt that counts, which ran for `seconds` at `width` cores."""

    campaign_id: int
    submitted: datetime
    ended: datetime
    seconds: float
    width: int
    cluster: str


class CampaignTimes(NamedTuple):
    """`last_first_start`: when the last of its tasks began for the first time; None while none has."""

    id: int
    name: str
    user: str
    type: CampaignType
    submitted: datetime
    ended: datetime | None
    last_first_start: datetime | None


class LostCoreSeconds(NamedTuple):
    """Core-seconds of attempts on a cluster that lost against others at their tasks: in all, and of those killed."""

    seconds: float
    killed: float


class RecordedForecast(NamedTuple):
    """A forecast of a campaign's end, from the history."""

    campaign_id: int
    at: datetime
    eta: datetime
    low: datetime
    high: datetime


def has_work(conn: Connection) -> bool:
    """Is any campaign on its way? One whose last tasks failed waits for its user, who is not simulated."""
    live = (TaskState.WAITING, TaskState.ASSIGNED)
    counts = (
        select(
            TaskCount.c.campaign_id,
            func.sum(TaskCount.c.n).filter(TaskCount.c.state.in_(live)).label("live"),
            func.sum(TaskCount.c.n).filter(TaskCount.c.state == TaskState.FAILED).label("failed"),
        )
        .group_by(TaskCount.c.campaign_id)
        .subquery()
    )
    on_its_way = (
        select(Campaign.c.id)
        .join(counts, counts.c.campaign_id == Campaign.c.id)
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .where(or_(func.coalesce(counts.c.live, 0) > 0, func.coalesce(counts.c.failed, 0) == 0))
    )
    return conn.scalar(on_its_way.limit(1)) is not None


def list_doubts(conn: Connection) -> list[int]:
    """Ids of the open events of doubted results, which somebody has to decide on."""
    return list(conn.scalars(select(Event.c.id).where(Event.c.code == DOUBTED, Event.c.closed_at.is_(None))))


def count_left(conn: Connection, campaign_id: int) -> int:
    """Tasks of the campaign that wait, be it for another campaign, or are in jobs."""
    count = TaskCount.c
    tasks = select(func.coalesce(func.sum(count.n), 0)).where(count.campaign_id == campaign_id)
    left = (TaskState.BLOCKED, TaskState.WAITING, TaskState.ASSIGNED)
    return int(conn.execute(tasks.where(count.state.in_(left))).scalar_one())


def list_demands(conn: Connection) -> list[CoreDemand]:
    """Each campaign in treatment; clusters where none of its tasks may go are none of its own."""
    part = CampaignCluster
    barred = list_without_queue(conn)
    places = (
        select(
            part.c.campaign_id,
            func.max(part.c.width).label("width"),
            func.array_agg(Cluster.c.name).label("names"),
        )
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .where(tuple_(part.c.campaign_id, part.c.cluster_id).not_in(barred))
        .group_by(part.c.campaign_id)
        .subquery()
    )
    waiting = (
        select(TaskCount.c.campaign_id, func.sum(TaskCount.c.n).label("n"))
        .where(TaskCount.c.state == TaskState.WAITING)
        .group_by(TaskCount.c.campaign_id)
        .subquery()
    )
    is_running = Job.c.state == JobState.RUNNING
    jobs = (
        select(
            Job.c.campaign_id,
            func.coalesce(func.sum(Job.c.width).filter(is_running), 0).label("running"),
            func.coalesce(func.sum(Job.c.width).filter(~is_running), 0).label("queued"),
        )
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.campaign_id)
        .subquery()
    )
    could_run = func.coalesce(waiting.c.n, 0) * places.c.width + func.coalesce(jobs.c.queued, 0)
    statement = (
        select(
            Campaign.c.id.label("campaign_id"),
            Campaign.c.grid_user.label("user"),
            cast(func.coalesce(jobs.c.running, 0), BigInteger).label("running"),
            cast(could_run, BigInteger).label("wanted"),
            places.c.names.label("clusters"),
        )
        .join(places, places.c.campaign_id == Campaign.c.id)
        .outerjoin(waiting, waiting.c.campaign_id == Campaign.c.id)
        .outerjoin(jobs, jobs.c.campaign_id == Campaign.c.id)
        .where(Campaign.c.state == CampaignState.IN_TREATMENT)
        .order_by(Campaign.c.id)
    )
    return read_all(conn, CoreDemand, statement)


def list_ended_tasks(conn: Connection) -> list[EndedTask]:
    """Every task that is done, sorted by its end."""
    ended = Attempt.c.started_at + interval(Attempt.c.seconds + Attempt.c.halted_seconds)
    statement = (
        select(
            Task.c.campaign_id,
            Campaign.c.submitted_at.label("submitted"),
            ended.label("ended"),
            cast(Attempt.c.seconds, Float).label("seconds"),
            Job.c.width,
            Cluster.c.name.label("cluster"),
        )
        .join(Attempt, and_(Attempt.c.task_id == Task.c.id, Attempt.c.outcome == Outcome.SUCCESS))
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .join(Campaign, Campaign.c.id == Task.c.campaign_id)
        .where(Task.c.state == TaskState.DONE)
        .order_by(ended, Task.c.id)
    )
    return read_all(conn, EndedTask, statement)


def list_lost(conn: Connection) -> dict[str, LostCoreSeconds]:
    """By cluster name; one where no attempt has lost is left out."""
    part = CampaignCluster
    lasted = func.coalesce(Attempt.c.seconds, Job.c.ran_seconds, 0.0)
    work = cast(func.coalesce(func.sum(lasted * part.c.width), 0.0), Float)
    killed = cast(func.coalesce(func.sum(lasted * part.c.width).filter(Attempt.c.exit_code.is_(None)), 0.0), Float)
    lost = conn.execute(
        select(Cluster.c.name, work, killed)
        .select_from(Attempt)
        .join(Job, Job.c.id == Attempt.c.job_id)
        .join(part, and_(part.c.campaign_id == Job.c.campaign_id, part.c.cluster_id == Job.c.cluster_id))
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .where(Attempt.c.outcome == Outcome.SUPERSEDED)
        .group_by(Cluster.c.name)
    )
    return {name: LostCoreSeconds(seconds, killed) for name, seconds, killed in lost}


def list_seen_campaigns(conn: Connection) -> list[CampaignTimes]:
    """Every campaign, in the order of submission."""
    started = (
        select(Task.c.campaign_id, func.max(Attempt.c.started_at).label("at"))
        .join(Attempt, and_(Attempt.c.task_id == Task.c.id, Attempt.c.number == 1))
        .group_by(Task.c.campaign_id)
        .subquery()
    )
    statement = (
        select(
            Campaign.c.id,
            Campaign.c.name,
            Campaign.c.grid_user.label("user"),
            Campaign.c.type,
            Campaign.c.submitted_at.label("submitted"),
            Campaign.c.ended_at.label("ended"),
            started.c.at.label("last_first_start"),
        )
        .outerjoin(started, started.c.campaign_id == Campaign.c.id)
        .order_by(Campaign.c.id)
    )
    return read_all(conn, CampaignTimes, statement)


def list_foretellings(conn: Connection) -> list[RecordedForecast]:
    """Each forecast of the history that names an end with its interval."""
    history = ForecastHistory
    statement = (
        select(history.c.campaign_id, history.c.at, history.c.eta)
        .add_columns(history.c.eta_low.label("low"), history.c.eta_high.label("high"))
        .where(history.c.cluster_id.is_(None), history.c.eta.is_not(None))
        .where(history.c.eta_low.is_not(None), history.c.eta_high.is_not(None), history.c.remaining > 0)
        .order_by(history.c.campaign_id, history.c.at)
    )
    return read_all(conn, RecordedForecast, statement)
