"""How campaigns came to where they are, from what is kept of each minute; never by looking at single tasks.
Read by: users.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Integer, and_, cast, func, select
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from cigri.answers.histories import MOST_PERIODS, CampaignRate
from cigri.tables.campaigns import Campaign, Completion
from cigri.text.units import MINUTE

LATELY = timedelta(days=1)


def list_rates(conn: Connection, campaign_ids: Sequence[int]) -> list[CampaignRate]:
    """In the order of their numbers; archived ones are left out, for what they did when is forgotten."""
    rates = []
    for _, periods in groupby(conn.execute(_periods(campaign_ids)).all(), attrgetter("id")):
        rows = list(periods)
        first = rows[0]
        done = [0] * (first.last + 1)
        for row in rows:
            if row.number is not None:
                done[row.number] = int(row.tasks)
        rates.append(CampaignRate(first.id, first.since, first.period, done))
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


def _seconds(span: ColumnElement[Any]) -> ColumnElement[float]:
    return cast(func.extract("epoch", span), DOUBLE_PRECISION)
