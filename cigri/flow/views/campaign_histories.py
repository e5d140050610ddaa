"""How campaigns came to where they are, from what is kept of each minute; never by looking at single tasks.
Read by: users.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, and_, cast, func, select, true
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select, Subquery

from cigri.api_models.histories import MOST_MOMENTS, MOST_PERIODS, ThroughputHistory
from cigri.database.typed_rows import read_all
from cigri.formats.units import MINUTE
from cigri.states import JobState
from cigri.tables.campaigns import Campaign, Completion, ForecastHistory
from cigri.tables.clusters import Cluster
from cigri.tables.jobs import Job

LATELY = timedelta(days=1)
SHORTEST_STEP = timedelta(seconds=1)


def list_rates(conn: Connection, campaign_ids: Sequence[int]) -> list[ThroughputHistory]:
    """In the order of their numbers; archived ones are left out, for what they did when is forgotten."""
    rates = []
    for _, periods in groupby(conn.execute(_periods(campaign_ids)).all(), attrgetter("id")):
        rows = list(periods)
        first = rows[0]
        done = [0] * (first.last + 1)
        for row in rows:
            if row.number is not None:
                done[row.number] = int(row.tasks)
        rates.append(ThroughputHistory(first.id, first.since, first.period, done))
    return rates


def _periods(campaign_ids: Sequence[int]) -> Select[*tuple[Any, ...]]:
    """Of each campaign the periods in which tasks were done, or one row without a number.

    A period has whole minutes, as completions are counted by the minute: others would seem to be fast and slow in turn.
    """
    campaign, until = Campaign.c, func.coalesce(Campaign.c.ended_at, func.now())
    since = func.date_trunc(
        "minute", func.greatest(campaign.submitted_at, until - LATELY), type_=campaign.submitted_at.type
    )
    lived = (
        select(campaign.id, since.label("since"), until.label("until"))
        .where(campaign.id.in_(campaign_ids), campaign.archived_at.is_(None))
        .subquery()
    )
    minutes = 1 + func.floor(_seconds(lived.c.until - lived.c.since) / (MOST_PERIODS * MINUTE))
    cut = select(lived, (minutes * MINUTE).label("period")).subquery()
    number = cast(func.floor(_seconds(Completion.c.minute - cut.c.since) / cut.c.period), Integer)
    last = cast(func.floor(_seconds(cut.c.until - cut.c.since) / cut.c.period), Integer)
    counted = and_(Completion.c.campaign_id == cut.c.id, Completion.c.minute.between(cut.c.since, cut.c.until))
    return (
        select(cut.c.id, cut.c.since, cut.c.period, last.label("last"), number.label("number"))
        .add_columns(func.sum(Completion.c.tasks).label("tasks"))
        .outerjoin(Completion, counted)
        .group_by(cut.c.id, cut.c.since, cut.c.until, cut.c.period, number)
        .order_by(cut.c.id, number)
    )


class CampaignHistoryPoint(NamedTuple):
    """How a campaign was at a moment, and what was forecast of its end."""

    at: datetime
    done: int
    failed: int
    eta: datetime | None
    eta_low: datetime | None
    eta_high: datetime | None


class CoreHistoryPoint(NamedTuple):
    """Cores that a campaign had on a cluster at a moment."""

    at: datetime
    cluster: str
    cores: int


def list_stood(conn: Connection, campaign_id: int, since: datetime, until: datetime) -> list[CampaignHistoryPoint]:
    """At most MOST_MOMENTS - 2 moments between these, the oldest first."""
    history, moments = ForecastHistory.c, _moments(campaign_id, since, until)
    statement = (
        select(history.at, history.done, history.failed, history.eta, history.eta_low, history.eta_high)
        .join(moments, and_(history.campaign_id == campaign_id, history.at == moments.c.at))
        .where(history.cluster_id.is_(None), history.done.is_not(None), history.failed.is_not(None))
        .order_by(history.at)
    )
    return read_all(conn, CampaignHistoryPoint, statement)


def list_had_cores(conn: Connection, campaign_id: int, since: datetime, until: datetime) -> list[CoreHistoryPoint]:
    """At the same moments, cluster by cluster."""
    history, moments = ForecastHistory.c, _moments(campaign_id, since, until)
    statement = (
        select(history.at, Cluster.c.name.label("cluster"), history.cores)
        .join(moments, and_(history.campaign_id == campaign_id, history.at == moments.c.at))
        .join(Cluster, Cluster.c.id == history.cluster_id)
        .where(history.cores.is_not(None))
        .order_by(history.at, Cluster.c.name)
    )
    return read_all(conn, CoreHistoryPoint, statement)


def list_cores_now(conn: Connection, campaign_id: int) -> dict[str, int]:
    """By the name of the cluster, of jobs that run."""
    running = and_(Job.c.campaign_id == campaign_id, Job.c.state == JobState.RUNNING)
    statement = (
        select(Cluster.c.name, cast(func.sum(Job.c.width), BigInteger).label("cores"))
        .join(Cluster, Cluster.c.id == Job.c.cluster_id)
        .where(running)
        .group_by(Cluster.c.name)
    )
    return {row.name: row.cores for row in conn.execute(statement)}


def _moments(campaign_id: int, since: datetime, until: datetime) -> Subquery:
    """Of those kept, the last one before each of so many that are the same time apart: each is found by the index."""
    step = max((until - since) / (MOST_MOMENTS - 2), SHORTEST_STEP)
    wanted = func.generate_series(since + step, until, step).table_valued("at", name="wanted").render_derived()
    history = ForecastHistory.alias("kept").c
    before = select(history.at).where(history.campaign_id == campaign_id, history.at > since, history.at < until)
    found = before.where(history.at <= wanted.c.at).order_by(history.at.desc()).limit(1).lateral("found")
    return select(found.c.at).select_from(wanted).join(found, true()).distinct().subquery("moments")


def _seconds(span: ColumnElement[Any]) -> ColumnElement[float]:
    return cast(func.extract("epoch", span), DOUBLE_PRECISION)
