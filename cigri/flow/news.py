"""News: events that those are to be told of who have subscribed, until it is noted for each of them.
Given by: notifier; taken by: notifier, operator, users.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import id_list
from cigri.database.typed_rows import read_all
from cigri.flow.events import NewEvent, put_events
from cigri.lifecycle.notifications import HAS_BEGUN
from cigri.states import OPEN_CAMPAIGNS, EventLevel, Severity
from cigri.tables.campaigns import Campaign
from cigri.tables.clusters import Cluster
from cigri.tables.grid import Event
from cigri.tables.jobs import Job
from cigri.tables.subscriptions import Subscription


class NotifiableEvent(NamedTuple):
    """`user`: the owner of its campaign; "": it has none."""

    id: int
    code: str
    level: EventLevel
    message: str
    opened_at: datetime
    campaign_id: int | None
    user: str
    cluster: str


class Subscriber(NamedTuple):
    """Somebody who has subscribed: to one campaign, to all of theirs, or to clusters and grid."""

    id: int
    user: str
    campaign_id: int | None
    is_of_grid: bool
    tags: list[str]
    severity: Severity
    created_at: datetime
    address: str


def put_begun(conn: Connection) -> int:
    """An event for each campaign that has its first job and somebody who wants to know; give their number.

    A campaign that somebody is just changing waits for the next pass.
    """
    row = Campaign.c
    begun = select(row.id).where(
        row.state.in_(OPEN_CAMPAIGNS), row.is_begin_told.is_(False), is_followed(), has_begun()
    )
    told = conn.execute(
        update(Campaign)
        .where(row.id.in_(begun.with_for_update(skip_locked=True)))
        .values(is_begin_told=True)
        .returning(row.id, row.name)
    ).all()
    put_events(
        conn,
        [
            NewEvent(
                HAS_BEGUN, EventLevel.INFO, f"campaign {each.id}", f"campaign {each.name} has begun to run", each.id
            )
            for each in told
        ],
    )
    return len(told)


def is_followed() -> ColumnElement[bool]:
    """Has anybody subscribed to the campaign of the statement around this?"""
    row = Subscription.c
    of_all = and_(row.campaign_id.is_(None), row.is_of_grid.is_(False), row.grid_user == Campaign.c.grid_user)
    return or_(
        select(row.id).where(row.campaign_id == Campaign.c.id).correlate(Campaign).exists(),
        select(row.id).where(of_all).correlate(Campaign).exists(),
    )


def has_begun() -> ColumnElement[bool]:
    """Has a job of the campaign of the statement around this ever run?"""
    return select(Job.c.id).where(Job.c.campaign_id == Campaign.c.id, Job.c.started_at.is_not(None)).exists()


def list_news(conn: Connection, without: Collection[int], most: int) -> list[NotifiableEvent]:
    """The oldest, but for those of campaigns that are left out."""
    row = Event.c
    statement = (
        select(row.id, row.code, row.level, row.message, row.opened_at, row.campaign_id)
        .add_columns(
            func.coalesce(Campaign.c.grid_user, "").label("user"), func.coalesce(Cluster.c.name, "").label("cluster")
        )
        .outerjoin(Campaign, Campaign.c.id == row.campaign_id)
        .outerjoin(Cluster, Cluster.c.id == row.cluster_id)
        .where(row.is_news)
        .order_by(row.id)
        .limit(most)
    )
    if without:
        statement = statement.where(or_(row.campaign_id.is_(None), row.campaign_id.not_in(id_list(without))))
    return read_all(conn, NotifiableEvent, statement)


def list_readers(conn: Connection, news: Sequence[NotifiableEvent]) -> list[Subscriber]:
    """Whoever has subscribed to something that any of this may be; until this transaction ends nobody unsubscribes."""
    row = Subscription.c
    campaigns = {event.campaign_id for event in news if event.campaign_id is not None}
    users = {event.user for event in news if event.user}
    of_all = and_(row.campaign_id.is_(None), or_(row.is_of_grid, row.grid_user.in_(users)))
    statement = select(
        row.id,
        row.grid_user.label("user"),
        *(row.campaign_id, row.is_of_grid, row.tags, row.severity, row.created_at),
        (func.concat(row.channel, ":", row.target)).label("address"),
    )
    readers = statement.where(or_(row.campaign_id.in_(id_list(campaigns)), of_all)).order_by(row.id)
    return read_all(conn, Subscriber, readers.with_for_update(read=True, key_share=True))


def end_news(conn: Connection, ids: Collection[int]) -> None:
    """In the transaction that notes them for whoever is told."""
    conn.execute(update(Event).where(Event.c.id.in_(id_list(ids))).values(is_news=False))
