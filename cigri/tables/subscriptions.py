"""Who is told of what happens to campaigns, and the messages that tell it."""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, CheckConstraint, Column, ForeignKey, Index, Named, Text
from sqlalchemy.dialects.postgresql import JSONB

from cigri.states import Channel, MessageState, NewsTag, Severity
from cigri.tables.columns import NumberedColumns, one_of, table

TAGS = ", ".join(f"'{tag}'" for tag in NewsTag)


class SubscriptionColumns(NumberedColumns):
    """Its user is told of a campaign, of all of theirs (`campaign_id` null), or, `is_of_grid`, of clusters and grid.

    Of news with one of the `tags`, of this `severity` at least, at `target`: an address of mail, the line of a command,
    or a URL. `secret`: by which messages to a URL are signed.
    """

    grid_user: Named[str]
    campaign_id: Named[int | None] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    is_of_grid: Named[bool] = Column(server_default="false")
    channel: Named[Channel] = Column(one_of(Channel))
    target: Named[str]
    tags: Named[list[str]] = Column(ARRAY(Text()))
    severity: Named[Severity] = Column(one_of(Severity))
    secret: Named[str | None]
    created_at: Named[datetime]


Subscription = table(
    "subscriptions",
    SubscriptionColumns,
    CheckConstraint("NOT (is_of_grid AND campaign_id IS NOT NULL)", name="one_thing"),
    CheckConstraint(f"tags <@ ARRAY[{TAGS}] AND cardinality(tags) > 0", name="tags"),
    CheckConstraint("(channel = 'webhook') = (secret IS NOT NULL)", name="secret"),
    Index(
        "uq_subscriptions_all",
        *("grid_user", "is_of_grid", "channel", "target"),
        unique=True,
        postgresql_where="campaign_id IS NULL",
    ),
    Index(
        "uq_subscriptions_campaign",
        *("campaign_id", "grid_user", "channel", "target"),
        unique=True,
        postgresql_where="campaign_id IS NOT NULL",
    ),
)


class MessageColumns(NumberedColumns):
    """What a subscription is told at a time of a campaign, or (null) of clusters and grid: `news` gathered by kind.

    More news join it until it is first tried. `key`: sent with it, the same at each try. Nobody else tries it before
    `taken_until`, which whoever tries it does not outlive.
    """

    subscription_id: Named[int] = Column(ForeignKey("subscriptions.id", ondelete="CASCADE"))
    campaign_id: Named[int | None] = Column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    key: Named[str] = Column(unique=True)
    state: Named[MessageState] = Column(one_of(MessageState))
    news: Named[list[dict[str, Any]]] = Column(JSONB)
    tries: Named[int] = Column(server_default="0")
    created_at: Named[datetime]
    due_at: Named[datetime]
    taken_until: Named[datetime | None]
    settled_at: Named[datetime | None]
    error: Named[str | None]


Message = table(
    "messages",
    MessageColumns,
    CheckConstraint("(state = 'waiting') = (settled_at IS NULL)", name="settled"),
    CheckConstraint("tries >= 0", name="tries"),
    Index("ix_messages_waiting", "due_at", postgresql_where="state = 'waiting'"),
    Index(None, "subscription_id", "campaign_id", "id"),
    Index(None, "campaign_id"),
)
