"""Subscriptions: who wants to be told of what, and how.
Given by: janitor, operator, users; taken by: notifier, users.
"""

import secrets

from sqlalchemy import Connection, Select, delete, exists, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.elements import ColumnElement

from cigri.api_models.subscriptions import CreatedSubscription, RotatedSecret, SubscriptionView
from cigri.database.typed_rows import read_all
from cigri.errors import CigriError, NotFound
from cigri.flow.news import has_begun, is_followed
from cigri.formats.subscriptions import MOST_SUBSCRIPTIONS, SubscriptionRequest
from cigri.identity.callers import Caller
from cigri.states import OPEN_CAMPAIGNS, Channel, MessageState
from cigri.tables.campaigns import Campaign
from cigri.tables.subscriptions import Message, Subscription

SECRET_BYTES = 32


def put_subscription(
    conn: Connection, user: str, wish: SubscriptionRequest, campaign_id: int | None = None, *, is_of_grid: bool = False
) -> CreatedSubscription:
    """Of a campaign, all of the user's, or clusters and grid; one of the same target gets these tags and severity."""
    _pass_over_begun(conn, user, campaign_id)
    secret = secrets.token_hex(SECRET_BYTES) if wish.channel is Channel.WEBHOOK else None
    told = {"tags": list(wish.tags), "severity": wish.severity}
    row = Subscription.c
    new = insert(Subscription).values(
        grid_user=user,
        campaign_id=campaign_id,
        is_of_grid=is_of_grid,
        channel=wish.channel,
        target=wish.target,
        secret=secret,
        created_at=func.now(),
        **told,
    )
    is_of_all = campaign_id is None
    alike = ("grid_user", "is_of_grid") if is_of_all else ("campaign_id", "grid_user")
    made = conn.execute(
        new.on_conflict_do_update(
            index_elements=[*alike, "channel", "target"],
            index_where=row.campaign_id.is_(None) if is_of_all else row.campaign_id.is_not(None),
            set_=told,
        ).returning(row.id, row.secret)
    ).one()
    if is_of_all and _number(conn, user) > MOST_SUBSCRIPTIONS:
        raise CigriError(
            f"{user} has {MOST_SUBSCRIPTIONS} subscriptions already: `gridnotify --unsubscribe ID` removes one"
        )
    (view,) = read_all(conn, SubscriptionView, _views().where(row.id == made.id))
    return CreatedSubscription(view, secret if made.secret == secret else None)


def list_subscriptions(
    conn: Connection, caller: Caller, after: int = 0, limit: int | None = None
) -> list[SubscriptionView]:
    """The caller's own, of whoever owns all those of everybody, by number; of campaigns that are archived none."""
    views = _views().outerjoin(Campaign, Campaign.c.id == Subscription.c.campaign_id)
    chosen = _is_own(caller), Subscription.c.id > after
    return read_all(conn, SubscriptionView, views.where(*chosen).order_by(Subscription.c.id).limit(limit))


def end_subscription(conn: Connection, subscription_id: int, caller: Caller) -> SubscriptionView:
    """What was to be told still is not told any more."""
    row = Subscription.c
    ended = read_all(conn, SubscriptionView, _views().where(row.id == subscription_id, _is_own(caller)))
    if not ended:
        raise NotFound(f"you have no subscription {subscription_id}; `gridnotify` lists yours")
    conn.execute(delete(Subscription).where(row.id == subscription_id))
    return ended[0]


def renew_secret(conn: Connection, subscription_id: int, caller: Caller) -> RotatedSecret:
    """From now on messages are signed by another one."""
    row, secret = Subscription.c, secrets.token_hex(SECRET_BYTES)
    is_signed = row.channel == Channel.WEBHOOK
    renewing = update(Subscription).where(row.id == subscription_id, _is_own(caller), is_signed).values(secret=secret)
    if not conn.execute(renewing.returning(row.id)).all():
        raise NotFound(f"you have no webhook {subscription_id}; `gridnotify` lists yours")
    return RotatedSecret(subscription_id, secret)


def has_subscriptions(conn: Connection) -> bool:
    """Does anybody want to be told anything?"""
    return bool(conn.scalar(select(exists(select(Subscription.c.id)))))


def forget_subscriptions(conn: Connection) -> int:
    """Delete those about campaigns that are archived, of which nothing is told any more; give their number."""
    archived = select(Campaign.c.id).where(Campaign.c.archived_at.is_not(None))
    return conn.execute(delete(Subscription).where(Subscription.c.campaign_id.in_(archived))).rowcount


def _pass_over_begun(conn: Connection, user: str, campaign_id: int | None) -> None:
    """That these campaigns have begun is no news for who follows them from now on."""
    row = Campaign.c
    which = row.grid_user == user if campaign_id is None else row.id == campaign_id
    old = select(row.id).where(which, row.state.in_(OPEN_CAMPAIGNS), row.is_begin_told.is_(False))
    old = old.where(~is_followed(), has_begun()).with_for_update(skip_locked=True)
    conn.execute(update(Campaign).where(row.id.in_(old)).values(is_begin_told=True))


def _number(conn: Connection, user: str) -> int:
    mine = select(func.count()).where(Subscription.c.grid_user == user, Subscription.c.campaign_id.is_(None))
    return conn.execute(mine).scalar_one()


def _is_own(caller: Caller) -> ColumnElement[bool]:
    return or_(Subscription.c.grid_user == caller.user, literal(caller.owns_all))


def _views() -> Select[*tuple[object, ...]]:
    row, message = Subscription.c, Message.c
    mine = message.subscription_id == row.id
    latest = select(message.error).where(mine, message.tries > 0).order_by(message.id.desc()).limit(1)
    return select(
        row.id,
        row.grid_user.label("user"),
        *(row.campaign_id, row.is_of_grid, row.channel, row.target, row.tags, row.severity, row.created_at),
        *(
            select(func.count()).where(mine, message.state == state).scalar_subquery().label(state)
            for state in (MessageState.SENT, MessageState.WAITING, MessageState.FAILED)
        ),
        select(func.max(message.settled_at))
        .where(mine, message.state == MessageState.SENT)
        .scalar_subquery()
        .label("last_sent_at"),
        latest.scalar_subquery().label("error"),
    )
