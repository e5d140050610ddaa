"""The updator says how full each cluster is and which campaigns do badly where; the metascheduler reads it."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Connection,
    and_,
    bindparam,
    cast,
    delete,
    func,
    insert,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.sql.dml import Insert, ReturningUpdate, Update
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause
from sqlalchemy.types import TypeEngine

from cigri.database import NOW, clock
from cigri.drivers import Capacity
from cigri.flow.anyone_to_operator import NewEvent, close_events, put_events
from cigri.flow.anyone_to_user import is_cluster_left_out
from cigri.flow.campaign_schedulers_to_anyone import list_queued
from cigri.flow.runner_to_anyone import is_there
from cigri.settings.cluster import ClusterConfig, look, read_config
from cigri.settings.sections import BudgetSettings
from cigri.states import WAITING_JOBS, EventLevel, JobState
from cigri.tables.campaigns import Campaign, CampaignCluster
from cigri.tables.clusters import (
    Cluster,
    ClusterForecast,
    ClusterPace,
    ClusterState,
    ClusterUsage,
    ExcludedNode,
    NodeDrain,
)
from cigri.tables.grid import Project
from cigri.tables.jobs import Job
from cigri.tables.policy import Usage
from cigri.tables.resources import NodeClass

IDS: Mapping[str, TypeEngine[Any]] = {"id": BigInteger()}
SET_ASIDE = "CLUSTER_SET_ASIDE"
SECONDS_A_DAY = 86_400.0
USED = ("campaign_id", "width", "walltime", "started_at", "ended_at")
NOTHING: Mapping[int, int] = MappingProxyType({})
USAGE_PERIOD = 60.0  # seconds between two rows of a cluster's history


class Room(NamedTuple):
    """A cluster that can be given jobs: free cores, and our jobs waiting (from chosen to queued) and running there.

    `waiting_cores` are those that the waiting jobs ask for. `pace`: the part of the usual that may be asked of it under
    the `stress` that it is under. `starts`: jobs of ours that it was seen to start in the time between two looks at it.
    `node`: cores of its largest node; 0: not known. `queued`: of those waiting, of all campaigns, by what they ask for
    (campaign_schedulers_to_anyone.py).

    A held job does not wait for cores: it is in nobody's way. Nor is one that the cluster no longer lists.
    """

    cluster_id: int
    name: str
    config: ClusterConfig
    free: int
    waiting: int
    running: int
    waiting_cores: int
    total: int
    pace: float = 1.0
    stress: str = ""
    starts: float = 0.0
    node: int = 0
    queued: Mapping[int, int] = NOTHING

    def is_wide(self, width: int) -> bool:
        """Does a job of so many cores take half a node, or more?"""
        return width > 1 and 0 < self.node <= 2 * width


class Consumption(NamedTuple):
    """Core-seconds that jobs used and had asked for, the older the less."""

    used: float
    asked: float


class Trial(NamedTuple):
    """What a visit saw of one campaign on the cluster: did a task succeed, how many failed since by their own fault."""

    has_success: bool
    failures: int
    example: str
    is_refusal: bool = False


def put_cluster_state(
    conn: Connection, cluster_id: int, capacity: Capacity, used_by_us: int, now: datetime | None = None
) -> None:
    """The present state, and one row of history a minute; free cores of nodes that are left out are not available."""
    conn.execute(_state(), {"here": cluster_id, "ours": used_by_us, "now": now, **_seen(capacity)})


def count_ours(conn: Connection, cluster_id: int) -> None:
    """The same visit has found jobs of ours that began or ended: what it wrote of used cores is divided anew.

    A job that the cluster no longer lists has ended: others have its cores by now, whatever becomes of its record.
    """
    conn.execute(_counted(), {"here": cluster_id})


@cache
def _counted() -> Update:
    here = bindparam("here", type_=BigInteger)
    state, usage = ClusterState.c, ClusterUsage.c
    running = select(func.coalesce(func.sum(Job.c.width), 0)).where(
        Job.c.cluster_id == here, Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None)
    )
    counted = (
        update(ClusterState)
        .where(state.cluster_id == here)
        .values(used_by_us=func.least(state.used, running.scalar_subquery()))
        .returning(state.cluster_id, state.at, state.used, state.used_by_us)
        .cte("counted")
    )
    return (
        update(ClusterUsage)
        .where(usage.cluster_id == counted.c.cluster_id, usage.at == minute_of(counted.c.at))
        .where(usage.used == counted.c.used)
        .values(used_by_us=counted.c.used_by_us)
    )


@cache
def _state() -> Update:
    here = bindparam("here", type_=BigInteger)
    seen = {name: bindparam(f"{name}_cores", type_=BigInteger) for name in Capacity._fields}
    lost = func.least(seen["free"], _left_out(here))
    values = {
        **seen,
        "free": seen["free"] - lost,
        "unavailable": seen["unavailable"] + lost,
        "cluster_id": here,
        "used_by_us": bindparam("ours", type_=BigInteger),
    }
    state = upsert(ClusterState).values({**values, "at": NOW})
    fields = {name: state.excluded[name] for name in (*values, "at") if name != "cluster_id"}
    return (
        update(Cluster)
        .where(Cluster.c.id == here)
        .values(visited_at=NOW)
        .add_cte(state.on_conflict_do_update(index_elements=[ClusterState.c.cluster_id], set_=fields).cte("state"))
        .add_cte(upsert(ClusterUsage).values({**values, "at": minute_of(NOW)}).on_conflict_do_nothing().cte("usage"))
    )


def _left_out(here: BindParameter[int]) -> ColumnElement[int]:
    """Cores of the nodes that get no job of ours now, if each is as large as the largest."""
    sick = select(ExcludedNode.c.node).where(ExcludedNode.c.cluster_id == here, ExcludedNode.c.until > NOW)
    nodes = select(func.count()).select_from(
        sick.union(select(NodeDrain.c.node).where(NodeDrain.c.cluster_id == here)).subquery()
    )
    largest = select(func.coalesce(_cores_of_a_node(), 0)).where(NodeClass.c.cluster_id == here)
    return nodes.scalar_subquery() * largest.scalar_subquery()


def _cores_of_a_node() -> ColumnElement[int]:
    return cast(func.max(NodeClass.c.properties["cores"].as_float()), BigInteger)


def _seen(capacity: Capacity) -> dict[str, int]:
    return {f"{name}_cores": cores for name, cores in capacity._asdict().items()}


def minute_of(time: ColumnElement[datetime]) -> ColumnElement[datetime]:
    """The row of a cluster's history that tells of this time."""
    return func.date_bin(func.make_interval(0, 0, 0, 0, 0, 0, USAGE_PERIOD), time, datetime(2001, 1, 1))  # noqa: DTZ001


def list_rooms(conn: Connection, now: datetime | None = None) -> list[Room]:
    """Enabled clusters whose last visit succeeded, the emptiest first."""
    is_waiting = and_(Job.c.state.in_(WAITING_JOBS), is_there())
    counts = (
        select(
            Job.c.cluster_id,
            func.count().filter(is_waiting).label("waiting"),
            cast(func.sum(Job.c.width).filter(is_waiting), BigInteger).label("waiting_cores"),
            func.count().filter(Job.c.state == JobState.RUNNING, Job.c.missing_since.is_(None)).label("running"),
        )
        .where(Job.c.state != JobState.ENDED)
        .group_by(Job.c.cluster_id)
        .subquery()
    )
    about_nodes = select(NodeClass.c.cluster_id, _cores_of_a_node().label("cores"))
    nodes = about_nodes.group_by(NodeClass.c.cluster_id).subquery()
    statement = (
        select(
            Cluster.c.id,
            Cluster.c.name,
            Cluster.c.config,
            ClusterState.c.free,
            func.coalesce(counts.c.waiting, 0).label("waiting"),
            func.coalesce(counts.c.running, 0).label("running"),
            func.coalesce(counts.c.waiting_cores, 0).label("waiting_cores"),
            ClusterState.c.total,
            func.coalesce(ClusterPace.c.pace, 1.0).label("pace"),
            func.coalesce(ClusterPace.c.why, "").label("stress"),
            func.coalesce(ClusterForecast.c.start_rate, 0.0).label("start_rate"),
            func.coalesce(ClusterForecast.c.cycle, 0.0).label("cycle"),
            func.coalesce(nodes.c.cores, 0).label("node"),
        )
        .outerjoin(ClusterForecast, ClusterForecast.c.cluster_id == Cluster.c.id)
        .outerjoin(ClusterPace, ClusterPace.c.cluster_id == Cluster.c.id)
        .join(ClusterState, ClusterState.c.cluster_id == Cluster.c.id)
        .outerjoin(counts, counts.c.cluster_id == Cluster.c.id)
        .outerjoin(nodes, nodes.c.cluster_id == Cluster.c.id)
        .where(Cluster.c.is_enabled, Cluster.c.failures == 0, ~is_cluster_left_out("runner"))
        .order_by(ClusterState.c.free.desc(), Cluster.c.id)
    )
    rooms, queued = [], list_queued(conn)
    for row in conn.execute(statement).all():
        config = read_config(row.name, row.config)
        if config is None:
            continue
        rooms.append(
            Room(
                cluster_id=row.id,
                name=row.name,
                config=config,
                free=row.free,
                waiting=row.waiting,
                running=row.running,
                waiting_cores=row.waiting_cores,
                total=row.total,
                pace=row.pace,
                stress=row.stress,
                starts=row.start_rate * look(row.cycle, config.poll_interval),
                node=row.node,
                queued=queued[row.id].asked if row.id in queued else NOTHING,
            )
        )
    return rooms


def used(ended: FromClause) -> Insert:
    """What jobs used that have just ended, of which `ended` has the id and USED; those that never started: nothing."""
    lasted = func.greatest(func.extract("epoch", ended.c.ended_at - ended.c.started_at), 0.0)
    sums = (
        select(
            Campaign.c.grid_user,
            Campaign.c.project_id,
            func.sum(ended.c.width * lasted),
            func.sum(ended.c.width * ended.c.walltime),
            NOW,
        )
        .select_from(ended)
        .join(Campaign, Campaign.c.id == ended.c.campaign_id)
        .where(ended.c.started_at.is_not(None), ended.c.ended_at.is_not(None))
        .group_by(Campaign.c.grid_user, Campaign.c.project_id)
    )
    return insert(Usage).from_select(["grid_user", "project_id", "used", "asked", "at"], sums)


def list_usage(conn: Connection, half_life: float, now: datetime | None = None) -> dict[tuple[str, str], Consumption]:
    """By user and project: what ended jobs used, half as much after `half_life` days, and what runs has used so far."""
    weight = _weight(half_life, now)
    ended = select(Usage.c.grid_user, Usage.c.project_id, Usage.c.used * weight, Usage.c.asked * weight)
    so_far = func.greatest(func.extract("epoch", clock(now) - Job.c.started_at), 0.0)
    running = (
        select(Campaign.c.grid_user, Campaign.c.project_id, Job.c.width * so_far, Job.c.width * Job.c.walltime)
        .join(Campaign, Campaign.c.id == Job.c.campaign_id)
        .where(Job.c.state == JobState.RUNNING, Job.c.started_at.is_not(None))
    )
    every = union_all(ended, running).subquery("every")
    user, project_id, used, asked = every.c
    found = conn.execute(
        select(
            user,
            func.coalesce(Project.c.name, ""),
            cast(func.sum(used), DOUBLE_PRECISION),
            cast(func.sum(asked), DOUBLE_PRECISION),
        )
        .outerjoin(Project, Project.c.id == project_id)
        .group_by(user, Project.c.name)
    )
    return {(user, project): Consumption(used, asked) for user, project, used, asked in found}


def add_up_usage(conn: Connection, half_life: float, now: datetime | None = None, longest: int = 50) -> None:
    """Replace the usage of users who have gathered many rows by its sum; it changes no total."""
    many = select(Usage.c.grid_user).group_by(Usage.c.grid_user).having(func.count() > longest)
    gone = delete(Usage).where(Usage.c.grid_user.in_(many))
    used, asked = (column * _weight(half_life, now) for column in (Usage.c.used, Usage.c.asked))
    user, project_id = Usage.c.grid_user, Usage.c.project_id
    added = gone.returning(user, project_id, used.label("used"), asked.label("asked")).cte("added")
    sums = select(added.c.grid_user, added.c.project_id, func.sum(added.c.used), func.sum(added.c.asked), clock(now))
    columns = ["grid_user", "project_id", "used", "asked", "at"]
    conn.execute(insert(Usage).from_select(columns, sums.group_by(added.c.grid_user, added.c.project_id)))


def _weight(half_life: float, now: datetime | None) -> ColumnElement[float]:
    """What a row counts for now."""
    age = func.greatest(func.extract("epoch", clock(now) - Usage.c.at), 0.0)
    return func.power(0.5, func.least(age / (half_life * SECONDS_A_DAY), 1000.0))


@cache
def _healed() -> ReturningUpdate[int]:
    part = CampaignCluster
    campaign_id, cluster_id, failures = (bindparam(name, type_=BigInteger) for name in ("campaign", "here", "failures"))
    is_odd = or_(part.c.errors != failures, part.c.strikes != 0, part.c.blocked_until.is_not(None))
    healed = update(part).where(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id, is_odd)
    return healed.values(errors=failures, strikes=0, blocked_until=None).returning(part.c.campaign_id)


def put_trials(
    conn: Connection,
    cluster_id: int,
    cluster_name: str,
    trials: Mapping[int, Trial],
    budget: BudgetSettings,
    now: datetime | None = None,
) -> int:
    """Count failures in a row per campaign; set the cluster aside when there are too many, heal at a success.

    Give the number of campaigns for which it was set aside.
    """
    part, set_aside = CampaignCluster, 0
    for campaign_id, trial in trials.items():
        here = and_(part.c.campaign_id == campaign_id, part.c.cluster_id == cluster_id)
        subject = f"campaign {campaign_id} on {cluster_name}"
        if trial.has_success:
            about = {"campaign": campaign_id, "here": cluster_id, "failures": trial.failures}
            if conn.execute(_healed(), about).all():
                close_events(conn, [SET_ASIDE], [subject], "cigri", now)
        elif trial.failures:
            conn.execute(update(part).where(here).values(errors=part.c.errors + trial.failures))
        if not trial.failures:
            continue
        pause = func.least(budget.backoff * func.power(2.0, func.least(part.c.strikes, 20)), budget.longest)
        aside = conn.execute(
            update(part)
            .where(here, part.c.errors >= budget.errors)
            .where(or_(part.c.blocked_until.is_(None), part.c.blocked_until <= clock(now)))
            .values(
                strikes=part.c.strikes + 1,
                blocked_until=clock(now) + func.make_interval(0, 0, 0, 0, 0, 0, pause),
            )
            .returning(part.c.errors, part.c.blocked_until)
        ).one_or_none()
        if aside is not None:
            set_aside += 1
            why = "its jobs are refused" if trial.is_refusal else f"{aside.errors} tasks in a row failed"
            message = (
                f"{why}; the cluster is set aside for this campaign until "
                f"{aside.blocked_until:%Y-%m-%d %H:%M:%S} UTC, then one job tries again; "
                f"`gridevents --fix` gives it back at once. Last failure: {trial.example}"
            )
            event = NewEvent(SET_ASIDE, EventLevel.ERROR, subject, message, campaign_id, cluster_id)
            put_events(conn, [event], now)
    return set_aside
