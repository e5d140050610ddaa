"""Subscriptions as those see them who are told."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import Channel, Severity


class SubscriptionView(NamedTuple):
    """Who is told of what, and whether it gets there."""

    id: int
    """The subscription's number."""
    user: str
    """Whose it is."""
    campaign_id: int | None
    """The campaign that it is about; null: all campaigns of its user, or clusters and grid."""
    is_of_grid: bool
    """Whether it is about clusters and the grid itself."""
    channel: Channel
    """The way: by mail, by a command that is run, or by a request to a web server."""
    target: str
    """The address, the command or the URL."""
    tags: list[str]
    """Of which news: RUNNING, END, ERROR, INFO, SUSPENDED, RESUMING."""
    severity: Severity
    """What matters less is not told."""
    created_at: datetime
    """When it was made: what happened before is not told."""
    sent: int
    """Messages that got there, as far as they are kept."""
    waiting: int
    """Messages that are to be sent."""
    failed: int
    """Messages that were given up, as far as they are kept."""
    last_sent_at: datetime | None
    """When the last one got there."""
    error: str | None
    """Why the last one that was tried did not get there; null: it did, or none was tried."""


class CreatedSubscription(NamedTuple):
    """A subscription that was just made or changed."""

    subscription: SubscriptionView
    """As it is now."""
    secret: str | None
    """By which messages to a URL are signed, when it is new: it is told here only."""


class RotatedSecret(NamedTuple):
    """A new secret of a subscription; the one before signs nothing any more."""

    id: int
    """The subscription's number."""
    secret: str
    """The secret, which is told here only."""
