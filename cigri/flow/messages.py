"""Messages: what a subscription is told at a time, until it is sent or given up.
Given by: janitor; taken by: notifier.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, and_, cast, delete, func, insert, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import interval
from cigri.database.typed_rows import read_all
from cigri.flow.events import NewEvent, close_events, put_events
from cigri.lifecycle.notifications import NOT_TOLD, Notification, gathered
from cigri.states import Channel, EventLevel, MessageState, TaskState
from cigri.tables.campaigns import Campaign
from cigri.tables.subscriptions import Message, Subscription
from cigri.tables.tasks import TaskCount
from cigri.tables.transitions import initial_state, transition_to


class DueMessage(NamedTuple):
    """One that this process may try now. Of a campaign its name and the numbers of its tasks."""

    id: int
    key: str
    user: str
    channel: Channel
    target: str
    secret: str
    campaign_id: int | None
    name: str
    tasks: int
    done: int
    failed: int
    tries: int
    created_at: datetime
    news: list[dict[str, Any]]


def put_news(
    conn: Connection, subscription_id: int, campaign_id: int | None, more: Sequence[Notification], digest: float
) -> None:
    """They join the message that was not tried yet, or make one: due `digest` seconds after the one before."""
    row = Message.c
    here = and_(row.subscription_id == subscription_id, row.campaign_id.is_not_distinct_from(campaign_id))
    latest = select(row.id, row.news, row.state, row.tries).where(here).order_by(row.id.desc()).limit(1)
    before = conn.execute(latest.with_for_update()).one_or_none()
    if before is not None and before.state is MessageState.WAITING and before.tries == 0:
        conn.execute(update(Message).where(row.id == before.id).values(news=gathered(before.news, more)))
        return
    earliest = select(func.max(func.coalesce(row.settled_at, func.now()))).where(here).scalar_subquery()
    conn.execute(
        insert(Message).values(
            subscription_id=subscription_id,
            campaign_id=campaign_id,
            key=cast(func.gen_random_uuid(), Text),
            state=initial_state(row.state, MessageState.WAITING),
            news=gathered((), more),
            created_at=func.now(),
            due_at=func.greatest(func.now(), earliest + interval(digest)),
        )
    )


def take_due(conn: Connection, most: int, of_user: int, lease: float) -> list[DueMessage]:
    """Each user's oldest in turn: `most` at the same time, and `of_user` of one; nobody else has them for `lease` s."""
    row = Message.c
    is_free = or_(row.taken_until.is_(None), row.taken_until <= func.now())
    is_mine = row.state == MessageState.WAITING
    waiting = (
        select(row.id, Subscription.c.grid_user)
        .join(Subscription, Subscription.c.id == row.subscription_id)
        .where(is_mine)
    )
    under_way = conn.execute(
        select(Subscription.c.grid_user, func.count().label("number"))
        .join(Message, row.subscription_id == Subscription.c.id)
        .where(is_mine, ~is_free)
        .group_by(Subscription.c.grid_user)
    ).all()
    room = most - sum(each.number for each in under_way)
    if room <= 0:
        return []
    busy = {each.grid_user: each.number for each in under_way}
    turn = func.row_number().over(partition_by=Subscription.c.grid_user, order_by=(row.due_at, row.id)).label("turn")
    due = waiting.add_columns(turn).where(is_free, row.due_at <= func.now()).subquery("due")
    candidates = conn.execute(
        select(due.c.id, due.c.grid_user).where(due.c.turn <= of_user).order_by(due.c.turn, due.c.id)
    )
    chosen: list[int] = []
    for each in candidates:
        busy[each.grid_user] = busy.get(each.grid_user, 0) + 1
        if busy[each.grid_user] <= of_user and len(chosen) < room:
            chosen.append(each.id)
    return _taken(conn, chosen, lease) if chosen else []


def _taken(conn: Connection, ids: Sequence[int], lease: float) -> list[DueMessage]:
    row = Message.c
    mine = row.id.in_(ids)
    conn.execute(update(Message).where(mine).values(tries=row.tries + 1, taken_until=func.now() + interval(lease)))
    statement = (
        select(row.id, row.key, Subscription.c.grid_user.label("user"), Subscription.c.channel, Subscription.c.target)
        .add_columns(func.coalesce(Subscription.c.secret, "").label("secret"), row.campaign_id)
        .add_columns(func.coalesce(Campaign.c.name, "").label("name"))
        .add_columns(*(_count(name, state) for name, state in COUNTS_TOLD.items()))
        .add_columns(row.tries, row.created_at, row.news)
        .join(Subscription, Subscription.c.id == row.subscription_id)
        .outerjoin(Campaign, Campaign.c.id == row.campaign_id)
        .where(mine)
        .order_by(row.id)
    )
    return read_all(conn, DueMessage, statement)


COUNTS_TOLD = {"tasks": None, "done": TaskState.DONE, "failed": TaskState.FAILED}


def _count(name: str, state: TaskState | None) -> ColumnElement[int]:
    counts = select(func.coalesce(func.sum(TaskCount.c.n), 0)).where(TaskCount.c.campaign_id == Message.c.campaign_id)
    counts = counts.where(TaskCount.c.state == state) if state else counts
    return cast(counts.scalar_subquery(), TaskCount.c.n.type).label(name)


def put_sent(conn: Connection, message: DueMessage) -> bool:
    """Its receiver has taken it; False: another try has settled it."""
    moved = transition_to(Message.c.state, MessageState.SENT).where(Message.c.id == message.id)
    close_events(conn, [NOT_TOLD], [_subject(message)], "cigri")
    return bool(conn.execute(moved.values(settled_at=func.now(), taken_until=None, error=None)).rowcount)


def put_unsent(conn: Connection, message: DueMessage, error: str, pause: float) -> None:
    """It is tried again after so many seconds, unless somebody else tries it already."""
    row = Message.c
    again = {"error": error, "taken_until": None, "due_at": func.now() + interval(pause)}
    is_ours = and_(row.id == message.id, row.state == MessageState.WAITING, row.tries == message.tries)
    conn.execute(update(Message).where(is_ours).values(again))


def put_given_up(conn: Connection, message: DueMessage, error: str) -> None:
    """It is not tried any more; its user finds that in an event."""
    row = Message.c
    given_up = transition_to(row.state, MessageState.FAILED).where(row.id == message.id, row.tries == message.tries)
    if not conn.execute(given_up.values(settled_at=func.now(), taken_until=None, error=error)).rowcount:
        return
    said = f"{message.user} was not told by {message.channel}:{message.target}: {error}"
    put_events(conn, [NewEvent(NOT_TOLD, EventLevel.WARNING, _subject(message), said, message.campaign_id)])


def _subject(message: DueMessage) -> str:
    return f"{message.user} by {message.channel}:{message.target}"


def forget_messages(conn: Connection, days: float) -> int:
    """Delete those that were settled longer ago, and give their number."""
    old = Message.c.settled_at < func.now() - timedelta(days=days)
    return conn.execute(delete(Message).where(old)).rowcount
