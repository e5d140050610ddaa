"""Forecasts of campaigns and clusters: the present ones, and their history.
Given by: predictor; taken by: portal, predictor, users.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, and_, case, cast, func, or_, select, union_all
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, TableValuedAlias
from sqlalchemy.types import TypeEngine

from cigri.database import bound_id_list, bound_values_table, rows_as_json, values_table
from cigri.database.typed_rows import read_all
from cigri.estimates.calibration import IntervalOutcome
from cigri.states import OPEN_CAMPAIGNS, CampaignState, JobState, TaskState
from cigri.tables.campaigns import Campaign, Forecast, ForecastHistory
from cigri.tables.clusters import ClusterRate
from cigri.tables.jobs import Job
from cigri.tables.tasks import TaskCount


class NewForecast(NamedTuple):
    """As the table `forecasts`; cluster_id None is the campaign as a whole."""

    campaign_id: int
    cluster_id: int | None
    ratio: float
    throughput: float | None
    mean: float | None
    deviation: float | None
    remaining: int
    eta: datetime | None
    median: float | None = None
    p95: float | None = None
    keep: int | None = None
    send: int | None = None
    memory: Mapping[str, float] = MappingProxyType({})
    submitted: int = 0
    free: int | None = None
    eta_low: datetime | None = None
    eta_high: datetime | None = None
    pressure: float | None = None
    published: datetime | None = None


FORECAST_FIELDS = NewForecast._fields
FORECAST_COLUMNS: dict[str, TypeEngine[Any]] = {name: Forecast.c[name].type for name in FORECAST_FIELDS}
OTHER: dict[str, TypeEngine[Any]] = {"first": BigInteger(), "campaign_id": BigInteger(), "remaining": BigInteger()}
NO_JOBS_SENT: Mapping[int, int] = MappingProxyType({})
NONE_ALIKE: Mapping[int, Mapping[int, int]] = MappingProxyType({})


class NewClusterRates(NamedTuple):
    """As the table `cluster_forecasts`."""

    cluster_id: int
    cycle: float | None
    start_rate: float | None
    queue_delay: float | None
    arrivals: float | None
    releases: float | None
    hazard: float | None


MEASURES = NewClusterRates._fields[1:]


def list_in_all(conn: Connection, besides: Collection[int] = ()) -> dict[int, NewForecast]:
    """By campaign id, the present forecast of each open campaign as a whole, without those of `besides`."""
    forecasts = read_all(conn, NewForecast, _in_all(), {"besides": list(besides)})
    return {forecast.campaign_id: forecast for forecast in forecasts}


@cache
def _in_all() -> Select[*tuple[Any, ...]]:
    return (
        select(*(Forecast.c[name] for name in FORECAST_FIELDS))
        .join(Campaign, Campaign.c.id == Forecast.c.campaign_id)
        .where(Forecast.c.cluster_id.is_(None), Campaign.c.state.in_(OPEN_CAMPAIGNS))
        .where(Campaign.c.id.not_in(bound_id_list("besides")))
    )


def put_forecasts(
    conn: Connection,
    forecasts: Sequence[NewForecast],
    history_period: float,
    alike: Mapping[int, Mapping[int, int]] = NONE_ALIKE,
) -> None:
    """Replace the present forecasts that have changed, and keep all of a campaign whose history is older than that.

    Most campaigns stand still in most cycles: to write their rows again costs more than all the rest. Of those that
    nothing is known of, neither what a task takes nor when the last one ends, and that nothing runs of, there is no
    history.
    `alike`: by campaign others of which the same is forecast but for the tasks remaining, which it gives for each.
    """
    values = [tuple(map(_as_json, forecast)) for forecast in forecasts]
    campaign_ids = dict.fromkeys(forecast.campaign_id for forecast in forecasts)
    others = [
        (first, id, remaining) for first in campaign_ids for id, remaining in alike.get(first, NO_JOBS_SENT).items()
    ]
    for with_cluster in (True, False):
        if of_kind := [value for value in values if (value[1] is not None) is with_cluster]:
            _put_present(conn, _of_all(values_table("new", FORECAST_COLUMNS, of_kind), others), with_cluster)
    conn.execute(_history(history_period))


@cache
def _history(period: float) -> Insert:
    """All forecasts of campaigns of which something is known, and that have had no row of history for so long.

    Beside them stands how their campaigns are now: charts show it.
    """
    whole, kept = Forecast.alias("whole").c, select(ForecastHistory.c.id)
    running = select(Job.c.id).where(Job.c.campaign_id == whole.campaign_id, Job.c.state == JobState.RUNNING).exists()
    is_known = and_(whole.cluster_id.is_(None), or_(whole.mean.is_not(None), whole.eta.is_not(None), running))
    recent = kept.where(ForecastHistory.c.campaign_id == whole.campaign_id)
    recent = recent.where(ForecastHistory.c.at > func.now() - timedelta(seconds=period)).limit(1)
    due = (
        select(whole.campaign_id)
        .join(Campaign, and_(Campaign.c.id == whole.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(is_known, recent.scalar_subquery().is_(None))
    )
    columns = {"at": func.now(), "cores": _cores(), "done": _tasks(TaskState.DONE), "failed": _tasks(TaskState.FAILED)}
    present = select(*(Forecast.c[name] for name in FORECAST_FIELDS), *columns.values())
    present = present.where(Forecast.c.campaign_id.in_(due))
    return insert(ForecastHistory).from_select([*FORECAST_FIELDS, *columns], present)


def _cores() -> ColumnElement[int]:
    """That jobs have of the campaign in the statement around it, on its cluster where it names one."""
    here = or_(Forecast.c.cluster_id.is_(None), Job.c.cluster_id == Forecast.c.cluster_id)
    cores = select(cast(func.coalesce(func.sum(Job.c.width), 0), BigInteger)).correlate(Forecast)
    of_campaign = cores.where(Job.c.campaign_id == Forecast.c.campaign_id, Job.c.state == JobState.RUNNING)
    return of_campaign.where(here).scalar_subquery()


def _tasks(state: TaskState) -> ColumnElement[int | None]:
    """That are in this state, where the statement around it tells of a whole campaign."""
    number = select(cast(func.coalesce(func.sum(TaskCount.c.n), 0), BigInteger)).correlate(Forecast)
    number = number.where(TaskCount.c.campaign_id == Forecast.c.campaign_id, TaskCount.c.state == state)
    return case((Forecast.c.cluster_id.is_(None), number.scalar_subquery()))


def put_cluster_forecasts(conn: Connection, forecasts: Sequence[NewClusterRates]) -> None:
    """Replace what is known of these clusters; `at` tells when the last pass was."""
    conn.execute(_new_of_clusters(), {"new": rows_as_json(NewClusterRates._fields, forecasts)})


@cache
def _new_of_clusters() -> Insert:
    new = bound_values_table("new", {name: ClusterRate.c[name].type for name in NewClusterRates._fields})
    values = select(*(new.c[name] for name in NewClusterRates._fields), func.now())
    statement = insert(ClusterRate).from_select([*NewClusterRates._fields, "at"], values)
    return statement.on_conflict_do_update(
        index_elements=[ClusterRate.c.cluster_id],
        set_={name: statement.excluded[name] for name in (*MEASURES, "at")},
    )


def _of_all(new: TableValuedAlias, others: Sequence[tuple[int, int, int]]) -> FromClause:
    """Rows of new forecasts, and the same again for `others`: (first, campaign, tasks remaining)."""
    if not others:
        return new
    other = values_table("other", OTHER, others)
    theirs: dict[str, ColumnElement[Any]] = {"campaign_id": other.c.campaign_id, "remaining": other.c.remaining}
    same = select(*(theirs.get(name, new.c[name]) for name in FORECAST_FIELDS)).join(
        other, other.c.first == new.c.campaign_id
    )
    return union_all(select(*(new.c[name] for name in FORECAST_FIELDS)), same).subquery("said")


def _put_present(conn: Connection, new: FromClause, with_cluster: bool) -> None:
    """Replace those that have changed, of clusters or of whole campaigns: each kind has a unique index of its own."""
    of_cluster = Forecast.c.cluster_id == new.c.cluster_id if with_cluster else Forecast.c.cluster_id.is_(None)
    same = (Forecast.c[name].is_not_distinct_from(new.c[name]) for name in FORECAST_FIELDS[2:])
    unchanged = select(Forecast.c.id).where(Forecast.c.campaign_id == new.c.campaign_id, of_cluster, *same)
    changed = select(*(new.c[name] for name in FORECAST_FIELDS), func.now()).where(~unchanged.exists())
    statement = insert(Forecast).from_select([*FORECAST_FIELDS, "at"], changed)
    conn.execute(
        statement.on_conflict_do_update(
            index_elements=["campaign_id", "cluster_id"] if with_cluster else ["campaign_id"],
            index_where=None if with_cluster else Forecast.c.cluster_id.is_(None),
            set_={name: statement.excluded[name] for name in (*FORECAST_FIELDS[2:], "at")},
        )
    )


def _as_json(value: object) -> object:
    if value is None or isinstance(value, (int, float)):  # nearly all: the others cost more to tell apart
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    return dict(value) if isinstance(value, Mapping) else value


def list_told(conn: Connection, campaign_ids: Sequence[int]) -> list[IntervalOutcome]:
    """Every interval in the history of those campaigns that came to their own end."""
    told = conn.execute(_told_intervals(), {"campaigns": list(campaign_ids)})
    return [IntervalOutcome(low, high, end) for low, high, end in told if low and high and end]


@cache
def _told_intervals() -> Select[datetime | None, datetime | None, datetime | None]:
    """Built once: it takes longer to build than to answer."""
    return (
        select(ForecastHistory.c.eta_low, ForecastHistory.c.eta_high, Campaign.c.ended_at)
        .join(Campaign, Campaign.c.id == ForecastHistory.c.campaign_id)
        .where(Campaign.c.id.in_(bound_id_list("campaigns")), Campaign.c.state == CampaignState.TERMINATED)
        .where(ForecastHistory.c.cluster_id.is_(None), ForecastHistory.c.eta_low.is_not(None))
        .where(ForecastHistory.c.at < Campaign.c.ended_at, ForecastHistory.c.remaining > 0)
        .order_by(ForecastHistory.c.at)
    )
