"""The grid shows its users how campaigns stand: counts, rates and forecasts, never by looking at single tasks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, and_, cast, func, literal, or_, select, true
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import server_time
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType, EventLevel, JobState, StepState, TaskState
from cigri.tables import (
    Bucket,
    Campaign,
    CampaignCluster,
    Cluster,
    ClusterState,
    Event,
    Forecast,
    Job,
    Project,
    TaskCount,
)


class CampaignView(NamedTuple):
    """A campaign; its tasks by state (`assigned`: in jobs), its open `errors`, and what is forecast of it."""

    id: int
    name: str
    user: str
    project: str
    type: CampaignType
    state: CampaignState
    submitted_at: datetime
    ended_at: datetime | None
    archived_at: datetime | None
    waiting: int
    assigned: int
    done: int
    failed: int
    cancelled: int
    errors: int
    throughput: float | None
    mean: float | None
    deviation: float | None
    eta: datetime | None

    @property
    def total(self) -> int:
        return self.waiting + self.assigned + self.done + self.failed + self.cancelled

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_CAMPAIGNS


class PartView(NamedTuple):
    """A campaign on one of its clusters: live jobs by state, steps, ended attempts, rates, and what stands in the way.

    `set_aside_until` and `why` are this campaign's; `is_enabled`, `paused_until` and `free` are the cluster's.
    """

    campaign_id: int
    cluster: str
    to_launch: int
    waiting: int
    running: int
    prologue: StepState
    epilogue: StepState
    done: int
    failed: int
    resubmitted: int
    throughput: float | None
    mean: float | None
    deviation: float | None
    set_aside_until: datetime | None
    why: str | None
    is_enabled: bool
    paused_until: datetime | None
    free: int | None


class ErrorView(NamedTuple):
    """An open event that a user should deal with."""

    id: int
    code: str
    campaign_id: int
    cluster: str | None
    job_id: int | None
    task_id: int | None
    times: int
    opened_at: datetime
    last_at: datetime
    message: str


class StoredDescription(NamedTuple):
    """What was stored of a campaign's description; `clusters` are ClusterSettings as JSON."""

    name: str
    type: CampaignType
    project: str
    scheduler: str
    requirements: dict[str, Any]
    clusters: dict[str, dict[str, Any]]


def list_campaigns(
    conn: Connection, ids: Sequence[int] | None = None, *, user: str = "", with_ended: bool = False
) -> list[CampaignView]:
    """In the order of their ids: the named ones, or all open ones, or all; `user` empty: everybody's."""
    counts = _counts()
    errors = (
        select(func.count().label("n"))
        .where(Event.campaign_id == Campaign.id, Event.closed_at.is_(None), Event.level == EventLevel.ERROR)
        .lateral()
    )
    statement = (
        select(
            Campaign.id,
            Campaign.name,
            Campaign.grid_user,
            func.coalesce(Project.name, ""),
            Campaign.type,
            Campaign.state,
            Campaign.submitted_at,
            Campaign.ended_at,
            Campaign.archived_at,
            *(counts.c[state.value] for state in TaskState),
            errors.c.n,
            Forecast.throughput,
            Forecast.mean,
            Forecast.deviation,
            Forecast.eta,
        )
        .select_from(Campaign)
        .join(counts, true())
        .join(errors, true())
        .outerjoin(Project, Project.id == Campaign.project_id)
        .outerjoin(Forecast, and_(Forecast.campaign_id == Campaign.id, Forecast.cluster_id.is_(None)))
        .where(_wanted(ids, user, with_ended))
        .order_by(Campaign.id)
    )
    return [CampaignView._make(row) for row in conn.execute(statement)]


def list_parts(conn: Connection, ids: Sequence[int]) -> list[PartView]:
    """These campaigns on each of their clusters."""
    part = CampaignCluster
    live = (
        select(
            func.count().filter(Job.state.in_((JobState.TO_LAUNCH, JobState.LAUNCHING))).label("to_launch"),
            func.count().filter(Job.state == JobState.SUBMITTED).label("waiting"),
            func.count().filter(Job.state == JobState.RUNNING).label("running"),
        )
        .where(Job.campaign_id == part.campaign_id, Job.cluster_id == part.cluster_id, Job.state != JobState.ENDED)
        .lateral()
    )
    why = (
        select(Event.message)
        .where(
            Event.subject == func.concat("campaign ", part.campaign_id, " on ", Cluster.name),
            Event.closed_at.is_(None),
            Event.code.in_(("CLUSTER_SET_ASIDE", "PROLOGUE_FAILED", "EPILOGUE_FAILED")),
        )
        .order_by(Event.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    statement = (
        select(
            part.campaign_id,
            Cluster.name,
            live.c.to_launch,
            live.c.waiting,
            live.c.running,
            part.prologue,
            part.epilogue,
            part.done,
            part.failed,
            part.resubmitted,
            Forecast.throughput,
            Forecast.mean,
            Forecast.deviation,
            part.blocked_until,
            why,
            Cluster.is_enabled,
            Cluster.blocked_until,
            ClusterState.free,
        )
        .select_from(part)
        .join(live, true())
        .join(Cluster, Cluster.id == part.cluster_id)
        .outerjoin(ClusterState, ClusterState.cluster_id == part.cluster_id)
        .outerjoin(Forecast, and_(Forecast.campaign_id == part.campaign_id, Forecast.cluster_id == part.cluster_id))
        .where(part.campaign_id.in_(ids))
        .order_by(part.campaign_id, Cluster.name)
    )
    return [PartView._make(row) for row in conn.execute(statement)]


def list_errors(conn: Connection, ids: Sequence[int] | None = None, *, user: str = "") -> list[ErrorView]:
    """Open errors of the named campaigns, or of all, oldest first."""
    statement = (
        select(
            Event.id,
            Event.code,
            Campaign.id,
            Cluster.name,
            Event.job_id,
            Event.task_id,
            Event.count,
            Event.opened_at,
            Event.last_at,
            Event.message,
        )
        .join(Campaign, Campaign.id == Event.campaign_id)
        .outerjoin(Cluster, Cluster.id == Event.cluster_id)
        .where(Event.closed_at.is_(None), Event.level == EventLevel.ERROR, _wanted(ids, user, True))
        .order_by(Event.id)
    )
    return [ErrorView._make(row) for row in conn.execute(statement)]


def find_description(conn: Connection, campaign_id: int) -> StoredDescription | None:
    row = conn.execute(
        select(Campaign.name, Campaign.type, func.coalesce(Project.name, ""), Campaign.scheduler)
        .outerjoin(Project, Project.id == Campaign.project_id)
        .where(Campaign.id == campaign_id)
    ).one_or_none()
    if row is None:
        return None
    part = CampaignCluster
    clusters = conn.execute(
        select(Cluster.name, part.settings)
        .join(Cluster, Cluster.id == part.cluster_id)
        .where(part.campaign_id == campaign_id)
        .order_by(Cluster.name)
    )
    wanted = select(Bucket.requirements).where(Bucket.campaign_id == campaign_id).order_by(Bucket.id).limit(1)
    settings = {name: dict(values) for name, values in clusters}
    return StoredDescription(*row, requirements=conn.scalar(wanted) or {}, clusters=settings)


def present(conn: Connection) -> datetime:
    """The time of the database, by which all other times are to be read."""
    return server_time(conn, None)


def _counts() -> Any:
    """Tasks by state, from the sums that triggers keep."""
    sums = (
        cast(func.coalesce(func.sum(TaskCount.n).filter(TaskCount.state == state), 0), BigInteger).label(state.value)
        for state in TaskState
    )
    return select(*sums).where(TaskCount.campaign_id == Campaign.id).lateral()


def _wanted(ids: Sequence[int] | None, user: str, with_ended: bool) -> ColumnElement[bool]:
    if ids is not None:
        chosen: ColumnElement[bool] = Campaign.id.in_(ids)
    else:
        chosen = or_(Campaign.state.in_(OPEN_CAMPAIGNS), literal(with_ended))
    return and_(chosen, Campaign.grid_user == user) if user else chosen
