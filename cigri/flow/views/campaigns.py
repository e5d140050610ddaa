"""How campaigns stand: counts, rates and forecasts, never by looking at single tasks.
Read by: users.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Row, and_, cast, func, literal, or_, select, true
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import LateralFromClause, ScalarSelect

from cigri.database import server_time
from cigri.database.typed_rows import read_all
from cigri.flow.holds import HALT_PROBLEMS, is_share_held
from cigri.flow.views.destinations import is_closed
from cigri.states import OPEN_CAMPAIGNS, CampaignState, CampaignType, EventLevel, JobState, StepState, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster, Forecast, Hold
from cigri.tables.clusters import Cluster, ClusterState, Drain
from cigri.tables.grid import Event, Project
from cigri.tables.jobs import Job
from cigri.tables.tasks import TaskCount

OBSTACLES = ("CLUSTER_SET_ASIDE", "RESULTS_DOUBTED", "PROLOGUE_FAILED", "EPILOGUE_FAILED", *HALT_PROBLEMS)


class CampaignView(NamedTuple):
    """A campaign; its tasks by state (`assigned`: in jobs), its open `errors`, and what is forecast of it.

    The end, `eta`, lies between `eta_low` and `eta_high` with a probability of 90 %; as others are told it is
    `published`, and `pressure` is the time in seconds of the critical path to it.
    `is_held`: its user wants it to stand still as a whole. `scheduler`: the one it names; `max_replicas` None: its last
    tasks are not replicated. `priority` is the operator's, `own_priority` the user's.
    """

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
    median: float | None
    p95: float | None
    eta: datetime | None
    eta_low: datetime | None
    eta_high: datetime | None
    is_held: bool
    scheduler: str
    max_replicas: int | None
    published: datetime | None
    pressure: float | None
    priority: int
    own_priority: int

    @property
    def total(self) -> int:
        return self.waiting + self.assigned + self.done + self.failed + self.cancelled

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_CAMPAIGNS


class PartView(NamedTuple):
    """A campaign on one of its clusters: live jobs by state, steps, ended attempts, rates, and what stands in the way.

    `set_aside_until` and `why` are this campaign's; what follows, to `fallback_because`, is the cluster's.
    `cluster_hours` is what its configuration says of them, which jobs of some types follow.
    `is_held` is the user's wish; so many of the waiting jobs are `held` there, and of the running ones `suspended`.
    `doubted` tasks are done, and seem not to have been; `is_sink`: for that the cluster is set aside. `is_barred`: no
    queue there is eligible for any of its buckets.
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
    median: float | None
    p95: float | None
    set_aside_until: datetime | None
    why: str | None
    is_enabled: bool
    paused_until: datetime | None
    free: int | None
    fallback_because: str
    drained_by: datetime | None
    is_held: bool
    held: int
    suspended: int
    job_type: str
    walltime: int
    doubted: int
    is_sink: bool
    is_barred: bool
    cluster_hours: dict[str, Any]


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


def list_campaigns(
    conn: Connection, ids: Sequence[int] | None = None, *, user: str = "", with_ended: bool = False
) -> list[CampaignView]:
    """In the order of their ids: the named ones, or all open ones, or all; `user` empty: everybody's."""
    counts = _counts()
    errors = (
        select(func.count().label("n"))
        .where(Event.c.campaign_id == Campaign.c.id, Event.c.closed_at.is_(None), Event.c.level == EventLevel.ERROR)
        .lateral()
    )
    held = select(Hold.c.id).where(
        Hold.c.campaign_id == Campaign.c.id, Hold.c.cluster_id.is_(None), Hold.c.job_id.is_(None)
    )
    statement = (
        select(
            Campaign.c.id,
            Campaign.c.name,
            Campaign.c.grid_user.label("user"),
            func.coalesce(Project.c.name, "").label("project"),
            Campaign.c.type,
            Campaign.c.state,
            Campaign.c.submitted_at,
            Campaign.c.ended_at,
            Campaign.c.archived_at,
            *(counts.c[state.value] for state in TaskState),
            errors.c.n.label("errors"),
            Forecast.c.throughput,
            Forecast.c.mean,
            Forecast.c.deviation,
            Forecast.c.median,
            Forecast.c.p95,
            Forecast.c.eta,
            Forecast.c.eta_low,
            Forecast.c.eta_high,
            held.exists().label("is_held"),
            Campaign.c.scheduler,
            Campaign.c.max_replicas,
            Forecast.c.published,
            Forecast.c.pressure,
            Campaign.c.priority,
            Campaign.c.own_priority,
        )
        .select_from(Campaign)
        .join(counts, true())
        .join(errors, true())
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id.is_(None)))
        .where(_wanted(ids, user, with_ended))
        .order_by(Campaign.c.id)
    )
    return read_all(conn, CampaignView, statement)


def list_parts(conn: Connection, ids: Sequence[int]) -> list[PartView]:
    """These campaigns on each of their clusters."""
    part, live = CampaignCluster, _live()
    statement = (
        select(
            part.c.campaign_id,
            Cluster.c.name.label("cluster"),
            live.c.to_launch,
            live.c.waiting,
            live.c.running,
            part.c.prologue,
            part.c.epilogue,
            part.c.done,
            part.c.failed,
            part.c.resubmitted,
            Forecast.c.throughput,
            Forecast.c.mean,
            Forecast.c.deviation,
            Forecast.c.median,
            Forecast.c.p95,
            part.c.blocked_until.label("set_aside_until"),
            _obstacle().label("why"),
            Cluster.c.is_enabled,
            Cluster.c.blocked_until.label("paused_until"),
            ClusterState.c.free,
            func.coalesce(Cluster.c.config["fallback_because"].astext, "").label("fallback_because"),
            Drain.c.deadline.label("drained_by"),
            is_share_held(part.c.campaign_id, part.c.cluster_id).label("is_held"),
            live.c.held,
            live.c.suspended,
            func.coalesce(part.c.settings["type"].astext, "best-effort").label("job_type"),
            part.c.settings["walltime"].as_integer().label("walltime"),
            part.c.doubted,
            part.c.sink_since.is_not(None).label("is_sink"),
            _is_barred().label("is_barred"),
            Cluster.c.config,
        )
        .select_from(part)
        .join(live, true())
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .outerjoin(Drain, Drain.c.cluster_id == part.c.cluster_id)
        .outerjoin(ClusterState, ClusterState.c.cluster_id == part.c.cluster_id)
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == part.c.campaign_id, Forecast.c.cluster_id == part.c.cluster_id)
        )
        .where(part.c.campaign_id.in_(ids))
        .order_by(part.c.campaign_id, Cluster.c.name)
    )
    return read_all(conn, PartView, statement, cluster_hours=_hours)


def _is_barred() -> ColumnElement[bool]:
    closed = is_closed(Bucket.c.id, CampaignCluster.c.cluster_id)
    mine = select(func.bool_and(closed)).where(Bucket.c.campaign_id == CampaignCluster.c.campaign_id)
    return func.coalesce(mine.correlate(CampaignCluster).scalar_subquery(), False)


def list_errors(conn: Connection, ids: Sequence[int] | None = None, *, user: str = "") -> list[ErrorView]:
    """Open errors of the named campaigns, or of all, oldest first."""
    statement = (
        select(
            Event.c.id,
            Event.c.code,
            Campaign.c.id.label("campaign_id"),
            Cluster.c.name.label("cluster"),
            Event.c.job_id,
            Event.c.task_id,
            Event.c.count.label("times"),
            Event.c.opened_at,
            Event.c.last_at,
            Event.c.message,
        )
        .join(Campaign, Campaign.c.id == Event.c.campaign_id)
        .outerjoin(Cluster, Cluster.c.id == Event.c.cluster_id)
        .where(Event.c.closed_at.is_(None), Event.c.level == EventLevel.ERROR, _wanted(ids, user, True))
        .order_by(Event.c.id)
    )
    return read_all(conn, ErrorView, statement)


def present(conn: Connection) -> datetime:
    """The time of the database, by which all other times are to be read."""
    return server_time(conn)


def _counts() -> Any:
    """Tasks by state, from the sums that triggers keep."""
    sums = (
        cast(func.coalesce(func.sum(TaskCount.c.n).filter(TaskCount.c.state == state), 0), BigInteger).label(
            state.value
        )
        for state in TaskState
    )
    return select(*sums).where(TaskCount.c.campaign_id == Campaign.c.id).lateral()


def _live() -> LateralFromClause:
    """A share's jobs that have not ended, by state."""
    part = CampaignCluster
    return (
        select(
            func.count().filter(Job.c.state.in_((JobState.TO_LAUNCH, JobState.LAUNCHING))).label("to_launch"),
            func.count().filter(Job.c.state == JobState.SUBMITTED).label("waiting"),
            func.count().filter(Job.c.state == JobState.RUNNING).label("running"),
            func.count(Job.c.halted_since).filter(Job.c.state == JobState.SUBMITTED).label("held"),
            func.count(Job.c.halted_since).filter(Job.c.state == JobState.RUNNING).label("suspended"),
        )
        .where(
            Job.c.campaign_id == part.c.campaign_id,
            Job.c.cluster_id == part.c.cluster_id,
            Job.c.state != JobState.ENDED,
        )
        .lateral()
    )


def _obstacle() -> ScalarSelect[str]:
    """What the last open event that stands in a share's way says."""
    subject = func.concat("campaign ", CampaignCluster.c.campaign_id, " on ", Cluster.c.name)
    return (
        select(Event.c.message)
        .where(Event.c.subject == subject, Event.c.closed_at.is_(None), Event.c.code.in_(OBSTACLES))
        .order_by(Event.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )


def _hours(row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    return {name: row.config[name] for name in ("hours", "timezone", "hours_overrun") if name in row.config}


def _wanted(ids: Sequence[int] | None, user: str, with_ended: bool) -> ColumnElement[bool]:
    if ids is not None:
        chosen: ColumnElement[bool] = Campaign.c.id.in_(ids)
    else:
        chosen = or_(Campaign.c.state.in_(OPEN_CAMPAIGNS), literal(with_ended))
    return and_(chosen, Campaign.c.grid_user == user) if user else chosen
