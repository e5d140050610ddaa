"""How campaigns stand: counts, rates and forecasts, never by looking at single tasks.
Read by: portal, users.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, and_, bindparam, case, cast, func, literal, or_, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement, Label
from sqlalchemy.sql.selectable import LateralFromClause, ScalarSelect, Select

from cigri.api_models.campaigns import CampaignClusterView, CampaignView
from cigri.api_models.failures import ErrorView
from cigri.database import is_one_of, server_time
from cigri.database.typed_rows import read_all
from cigri.flow.holds import HALT_PROBLEMS
from cigri.flow.views.campaign_search import ANY_CAMPAIGN, CampaignSearch, page_of_ids, sort_keys
from cigri.flow.views.job_destinations import is_closed, is_share_held
from cigri.formats.units import HOUR, MEGABYTE
from cigri.lifecycle.active_scheduler import USUAL_SCHEDULER, active_scheduler
from cigri.states import OPEN_CAMPAIGNS, EventLevel, JobState, StepState, TaskState
from cigri.tables.campaigns import Bucket, Campaign, CampaignCluster, Forecast, Hold
from cigri.tables.clusters import Cluster, ClusterState, Drain
from cigri.tables.grid import Event, Project
from cigri.tables.inputs import TaskPlace
from cigri.tables.jobs import Job
from cigri.tables.tasks import TaskCount

PARCELS = ("uncollected", "uncollected_bytes", "collected", "lost")
OBSTACLES = (
    *("CLUSTER_SET_ASIDE", "SUBMISSION_FAILED", "JOBS_DO_NOTHING", "JOBS_CANNOT_START"),
    *("RESULTS_DOUBTED", "PROLOGUE_FAILED", "EPILOGUE_FAILED"),
    *HALT_PROBLEMS,
)


def list_campaigns(
    conn: Connection,
    ids: Sequence[int] | None = None,
    *,
    user: str = "",
    with_ended: bool = False,
    default_scheduler: str = USUAL_SCHEDULER,
    search: CampaignSearch = ANY_CAMPAIGN,
    after: int = 0,
    limit: int | None = None,
) -> list[CampaignView]:
    """Behind the campaign `after`, in the order of the search: the named ones, or all open ones, or all that are
    not forgotten.

    `user` empty: everybody's.
    """
    page = page_of_ids(_wanted(ids, user, with_ended), search, after).limit(limit).subquery()
    chosen = _campaigns().where(Campaign.c.id.in_(select(page.c.id))).order_by(*sort_keys(search))
    return read_all(conn, CampaignView, chosen, served_by=lambda row: _served_by(row, default_scheduler))


def find_one_campaign(
    conn: Connection, campaign_id: int, *, default_scheduler: str = USUAL_SCHEDULER
) -> CampaignView | None:
    """None: there is none."""
    served_by = partial(_served_by, default=default_scheduler)
    found = read_all(conn, CampaignView, _one_campaign(), {"id": campaign_id}, served_by=served_by)
    return found[0] if found else None


@cache
def _one_campaign() -> Select[*tuple[Any, ...]]:
    """Built once: it takes longer to build than to answer."""
    return _campaigns().where(Campaign.c.id == bindparam("id"))


@cache
def _campaigns() -> Select[*tuple[Any, ...]]:
    """All, in no order."""
    counts = _counts()
    errors = (
        select(func.count().label("n"))
        .where(Event.c.campaign_id == Campaign.c.id, Event.c.closed_at.is_(None), Event.c.level == EventLevel.ERROR)
        .lateral()
    )
    parcels = _parcels()
    whole = and_(Hold.c.campaign_id == Campaign.c.id, Hold.c.cluster_id.is_(None), Hold.c.job_id.is_(None))
    return (
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
            _throughput(counts.c[TaskState.DONE.value]),
            Forecast.c.mean,
            Forecast.c.deviation,
            Forecast.c.median,
            Forecast.c.p95,
            Forecast.c.eta,
            Forecast.c.eta_low,
            Forecast.c.eta_high,
            Hold.c.id.is_not(None).label("is_held"),
            Hold.c.asked_by.label("held_by"),
            Hold.c.asked_at.label("held_at"),
            Campaign.c.scheduler,
            Campaign.c.max_replicas,
            Forecast.c.published,
            Forecast.c.pressure,
            Campaign.c.priority,
            Campaign.c.own_priority,
            counts.c.total,
            _running_jobs().label("running"),
            _failed_epilogues().exists().label("has_failed_epilogue"),
            *(parcels.c[name] for name in PARCELS),
        )
        .select_from(Campaign)
        .join(counts, true())
        .join(errors, true())
        .join(parcels, true())
        .outerjoin(Project, Project.c.id == Campaign.c.project_id)
        .outerjoin(Hold, whole)
        .outerjoin(Forecast, and_(Forecast.c.campaign_id == Campaign.c.id, Forecast.c.cluster_id.is_(None)))
    )


def list_open(conn: Connection, ids: Sequence[int] | None = None, *, user: str = "") -> list[int]:
    """Of the named campaigns, or of all, those that are open; `user` empty: everybody's."""
    is_open = and_(_wanted(ids, user, False), Campaign.c.state.in_(OPEN_CAMPAIGNS))
    return list(conn.scalars(select(Campaign.c.id).where(is_open).order_by(Campaign.c.id)))


def _served_by(row: Row[*tuple[Any, ...]], default: str) -> str:
    marks = {
        "has_done": row.done > 0,
        "has_waiting": row.waiting > 0,
        "is_replicated": row.max_replicas is not None,
    }
    return active_scheduler(row.type, row.scheduler, default, **marks)


def list_parts(conn: Connection, ids: Sequence[int]) -> list[CampaignClusterView]:
    """These campaigns on each of their clusters, sorted by campaign and the cluster's name."""
    if len(ids) == 1:
        return read_all(conn, CampaignClusterView, _parts_of_one(), {"id": ids[0]}, cluster_hours=_hours)
    chosen = _parts().where(is_one_of(CampaignCluster.c.campaign_id, ids))
    return read_all(conn, CampaignClusterView, chosen, cluster_hours=_hours)


@cache
def _parts() -> Select[*tuple[Any, ...]]:
    part, live = CampaignCluster, _live()
    return (
        select(
            part.c.campaign_id,
            Cluster.c.name.label("cluster"),
            live.c.to_launch,
            live.c.waiting,
            live.c.running,
            part.c.prologue,
            part.c.epilogue,
            or_(part.c.lacks_inputs, _lack_own_inputs()).label("lacks_inputs"),
            part.c.outputs_wait,
            part.c.done,
            part.c.failed,
            part.c.resubmitted,
            part.c.width,
            part.c.profiled,
            *_profile(),
            CampaignCluster.c.most_memory,
            _asked_memory().label("asked_memory"),
            _throughput(part.c.done),
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
        .join(Campaign, Campaign.c.id == part.c.campaign_id)
        .join(Cluster, Cluster.c.id == part.c.cluster_id)
        .outerjoin(Drain, Drain.c.cluster_id == part.c.cluster_id)
        .outerjoin(ClusterState, ClusterState.c.cluster_id == part.c.cluster_id)
        .outerjoin(
            Forecast, and_(Forecast.c.campaign_id == part.c.campaign_id, Forecast.c.cluster_id == part.c.cluster_id)
        )
        .order_by(part.c.campaign_id, Cluster.c.name)
    )


@cache
def _parts_of_one() -> Select[*tuple[Any, ...]]:
    """Built once: it takes longer to build than to answer."""
    return _parts().where(CampaignCluster.c.campaign_id == bindparam("id"))


def _profile() -> Iterator[Label[Any]]:
    """Null where no task has told what it used."""
    part = CampaignCluster.c
    means = {name: part[name] / func.nullif(part.profiled, 0) for name in ("cpu", "bytes_read", "bytes_written")}
    most = {name: case((part.profiled > 0, part[name])) for name in ("most_cpu", "most_read", "most_written")}
    busy = part.cpu / func.nullif(part.profiled_seconds, 0)
    told = means | most | {"busy": busy}
    for name in ("cpu", "most_cpu", "busy", "bytes_read", "most_read", "bytes_written", "most_written"):
        yield cast(told[name], DOUBLE_PRECISION).label(name)


def _asked_memory() -> ColumnElement[int | None]:
    """Null where it is computed from the parameters."""
    mem = CampaignCluster.c.settings["resources"]["mem"]
    return case((func.jsonb_typeof(mem) == "number", cast(mem, BigInteger) * MEGABYTE))


def _is_barred() -> ColumnElement[bool]:
    closed = is_closed(Bucket.c.id, CampaignCluster.c.cluster_id)
    are_closed = select(func.bool_and(closed)).where(Bucket.c.campaign_id == CampaignCluster.c.campaign_id)
    return func.coalesce(are_closed.correlate(CampaignCluster).scalar_subquery(), False)


def list_errors(
    conn: Connection, ids: Sequence[int] | None = None, *, user: str = "", after: int = 0, limit: int | None = None
) -> list[ErrorView]:
    """Open errors of the named campaigns, or of all, oldest first, behind the event `after`."""
    statement = (
        select(
            Event.c.id,
            Event.c.code,
            Campaign.c.id.label("campaign_id"),
            Campaign.c.grid_user.label("user"),
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
        .where(Event.c.id > after)
        .order_by(Event.c.id)
        .limit(limit)
    )
    return read_all(conn, ErrorView, statement)


def grid_time(conn: Connection) -> datetime:
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
    total = cast(func.coalesce(func.sum(TaskCount.c.n), 0), BigInteger).label("total")
    return select(*sums, total).where(TaskCount.c.campaign_id == Campaign.c.id).lateral()


def _parcels() -> LateralFromClause:
    """Of all shares of a campaign."""
    part = CampaignCluster.c
    sums = (cast(func.coalesce(func.sum(part[name]), 0), BigInteger).label(name) for name in PARCELS)
    return select(*sums).where(part.campaign_id == Campaign.c.id).lateral()


def _throughput(done: ColumnElement[int]) -> Label[float | None]:
    """Tasks per hour: of an ended campaign those of its whole life, of another one those of late."""
    lived = func.nullif(func.extract("epoch", Campaign.c.ended_at - Campaign.c.submitted_at), 0)
    over_life = cast(done * HOUR / lived, DOUBLE_PRECISION)
    return case((Campaign.c.ended_at.is_not(None), over_life), else_=Forecast.c.throughput).label("throughput")


def _running_jobs() -> ScalarSelect[int]:
    is_running = and_(Job.c.campaign_id == Campaign.c.id, Job.c.state == JobState.RUNNING)
    return select(func.count()).where(is_running).correlate(Campaign).scalar_subquery()


def _failed_epilogues() -> Select[int]:
    part = CampaignCluster.c
    has_failed = and_(part.campaign_id == Campaign.c.id, part.epilogue == StepState.FAILED)
    return select(part.cluster_id).where(has_failed).correlate(Campaign)


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
    """The message of the newest open event that stands in a share's way; null: nothing does."""
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
        chosen = is_one_of(Campaign.c.id, ids)
    else:
        is_kept = and_(literal(with_ended), Campaign.c.forgotten_at.is_(None))
        chosen = or_(Campaign.c.state.in_(OPEN_CAMPAIGNS), is_kept)
    return and_(chosen, Campaign.c.grid_user == user) if user else chosen


def _lack_own_inputs() -> ColumnElement[bool]:
    """Do tasks of a campaign wait on a cluster for files of their own, and none has them?"""
    place = TaskPlace.c
    here = select(place.number).where(
        place.campaign_id == CampaignCluster.c.campaign_id, place.cluster_id == CampaignCluster.c.cluster_id
    )
    here = here.correlate(CampaignCluster)
    return and_(here.where(~place.is_furnished).exists(), ~here.where(place.is_furnished).exists())
