"""Who is told of which events; pure."""

from collections.abc import Sequence

from cigri.flow.news import NotifiableEvent, Subscriber
from cigri.lifecycle.notifications import Notification, is_wanted, news_of


def readers_of(readers: Sequence[Subscriber], campaign_id: int | None, owner: str) -> list[Subscriber]:
    """Those of a campaign, or of clusters and grid; what somebody wants of one campaign holds there over all others."""
    if campaign_id is None:
        return [reader for reader in readers if reader.is_of_grid]
    own = [reader for reader in readers if reader.campaign_id == campaign_id]
    said = {(reader.user, reader.address) for reader in own}
    of_all = [reader for reader in readers if reader.campaign_id is None and not reader.is_of_grid]
    return own + [reader for reader in of_all if reader.user == owner and (reader.user, reader.address) not in said]


def wanted_by(reader: Subscriber, events: Sequence[NotifiableEvent]) -> list[Notification]:
    """What has happened since they subscribed, of the kinds that they want."""
    return [
        news_of(event.code, event.level, event.cluster, event.message)
        for event in events
        if event.opened_at >= reader.created_at and is_wanted(event.code, event.level, reader.tags, reader.severity)
    ]
