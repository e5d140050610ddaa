"""Campaigns that stand alike: one forecast is made for all of them.
Read by: predictor.
"""

from collections import defaultdict
from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, and_, cast, func, select
from sqlalchemy.sql.elements import ColumnElement, Label

from cigri.flow.forecasts import NewForecast
from cigri.states import LEFT_TO_DO, OPEN_CAMPAIGNS, CampaignType
from cigri.tables.campaigns import Campaign, CampaignCluster, Forecast
from cigri.tables.jobs import Job
from cigri.tables.tasks import TaskCount


class ForecastShape(NamedTuple):
    """The shape of a campaign's forecasts, on its clusters and in all, and the fewest and most tasks of one of them."""

    shape: int | None
    fewest: int | None
    most: int | None


NO_FORECAST = ForecastShape(None, None, None)


def list_alike(conn: Connection, apart: Collection[int] = ()) -> dict[int, dict[int, int]]:
    """Open campaigns of which no job was ever made: by the first of those that differ only in how many tasks they have,
    the others, with the tasks that each has left; without those that stand `apart`.

    What is read of them meets here: joined in the database, each would be compared with each, as the planner does not
    know how many there are.
    """
    left = {id: tasks for tasks, ids in conn.execute(_left()) for id in ids}
    forecasts = {
        id: ForecastShape(shape, fewest, most) for shape, fewest, most, ids in conn.execute(_forecasts()) for id in ids
    }
    alike: dict[object, dict[int, int]] = defaultdict(dict)
    for shape, replicates, ids in conn.execute(_asked()):
        for id in ids:
            tasks, present = left.get(id), forecasts.get(id, NO_FORECAST)
            if tasks is not None and id not in apart and present.fewest == present.most:
                alike[shape, replicates, present.shape, present.most == tasks][id] = tasks
    several = (sorted(some.items()) for some in alike.values() if len(some) > 1)
    return {first: dict(others) for (first, _), *others in several}


@cache
def _left() -> Select[*tuple[Any, ...]]:
    """Campaigns that have tasks left of which nothing is known, by their number."""
    count = TaskCount.c
    each = (
        select(count.campaign_id, cast(func.sum(count.n), BigInteger).label("tasks"))
        .join(Campaign, and_(Campaign.c.id == count.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS)))
        .where(count.state.in_(LEFT_TO_DO))
        .group_by(count.campaign_id)
        .having(func.sum(count.n) > 0, func.sum(count.known) == 0)
        .subquery()
    )
    return select(each.c.tasks, func.array_agg(each.c.campaign_id)).group_by(each.c.tasks)


@cache
def _asked() -> Select[*tuple[Any, ...]]:
    """Campaigns without jobs, by all that their forecasts are made of but the number of tasks, as one number.

    That is on each cluster: width, speed, walltime, algorithm and the user's guess of a duration.
    """
    part, campaign = CampaignCluster.c, Campaign.c
    settings = (part.settings[name] for name in ("walltime", "algorithm", "duration"))
    shape = _shape(part.cluster_id, part.width, part.speed, *settings)
    has_jobs = select(Job.c.id).where(Job.c.campaign_id == campaign.id).exists()
    replicates = and_(campaign.max_replicas.is_not(None), campaign.type == CampaignType.DEFAULT)
    each = (
        select(part.campaign_id, func.bool_or(replicates).label("replicates"), shape)
        .join(Campaign, campaign.id == part.campaign_id)
        .where(campaign.state.in_(OPEN_CAMPAIGNS), ~has_jobs)
        .group_by(part.campaign_id)
        .having(func.bool_and(and_(part.done == 0, part.failed == 0, part.resubmitted == 0, part.doubted == 0)))
        .subquery()
    )
    about = (each.c.shape, each.c.replicates)
    return select(*about, func.array_agg(each.c.campaign_id)).group_by(*about)


@cache
def _forecasts() -> Select[*tuple[Any, ...]]:
    """Open campaigns by the shape of their present forecasts, and the fewest and most tasks of one of them."""
    forecast = Forecast.c
    shape = _shape(*(forecast[name] for name in NewForecast._fields[1:] if name != "remaining"))
    fewest, most = func.min(forecast.remaining).label("fewest"), func.max(forecast.remaining).label("most")
    is_open = and_(Campaign.c.id == forecast.campaign_id, Campaign.c.state.in_(OPEN_CAMPAIGNS))
    each = (
        select(forecast.campaign_id, shape, fewest, most)
        .join(Campaign, is_open)
        .group_by(forecast.campaign_id)
        .subquery()
    )
    about = (each.c.shape, each.c.fewest, each.c.most)
    return select(*about, func.array_agg(each.c.campaign_id)).group_by(*about)


def _shape(*columns: ColumnElement[Any]) -> Label[int]:
    """A number for rows whatever their order, no two of which are the same: the exclusive or of their 64-bit hashes.

    Different campaigns have the same by chance with a probability of 2^-64.
    """
    return func.bit_xor(func.hash_record_extended(func.row(*columns), 0), type_=BigInteger).label("shape")
