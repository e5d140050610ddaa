"""Who is told what happens to campaigns, and to the grid."""

from typing import TYPE_CHECKING

from cigri.api_models.subscriptions import CreatedSubscription, RotatedSecret, SubscriptionView
from cigri.endpoints import Access, change_endpoint, read_endpoint, with_settings
from cigri.endpoints.paging import FORWARDS, USUAL_ROWS, PageLimit, require_limit
from cigri.endpoints.parameters import about
from cigri.errors import CigriError
from cigri.identity.callers import AccessScope, Caller
from cigri.states import Channel, Severity

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.formats.subscriptions import SubscriptionRequest
    from cigri.settings.sections import NotifySettings, Settings


@read_endpoint("/subscriptions", Access.EVERYBODY, FORWARDS)
def subscriptions(
    conn: "Connection", caller: Caller, *, after: int = 0, limit: PageLimit = USUAL_ROWS
) -> list[SubscriptionView]:
    """Your subscriptions; operators see those of everybody."""
    from cigri.flow.subscriptions import list_subscriptions

    require_limit(limit)
    return list_subscriptions(conn, caller, after, limit)


@change_endpoint("/subscriptions", Access.EVERYBODY)
@with_settings
def subscribe(
    conn: "Connection", caller: Caller, settings: "Settings", *, address: str, severity: Severity | None = None
) -> CreatedSubscription:
    """You are told of all your campaigns; an address that is told already gets these tags and this severity."""
    from cigri.flow.subscriptions import put_subscription

    return put_subscription(conn, caller.user, _wish(settings.notify, address, severity))


@change_endpoint("/campaigns/{campaign_id}/subscriptions", Access.OWNER)
@with_settings
def subscribe_to_campaign(
    conn: "Connection",
    caller: Caller,
    settings: "Settings",
    *,
    campaign_id: int,
    address: str,
    severity: Severity | None = None,
) -> CreatedSubscription:
    """You are told of one campaign, at this address in no other way."""
    from cigri.flow.campaigns import own_campaign
    from cigri.flow.subscriptions import put_subscription

    own_campaign(conn, campaign_id, caller)
    return put_subscription(conn, caller.user, _wish(settings.notify, address, severity), campaign_id)


@change_endpoint("/subscriptions/grid", Access.OPERATOR, AccessScope.OPERATE)
@with_settings
def subscribe_to_grid(
    conn: "Connection", caller: Caller, settings: "Settings", *, address: str, severity: Severity | None = None
) -> CreatedSubscription:
    """You are told of clusters and the grid itself."""
    from cigri.flow.subscriptions import put_subscription

    return put_subscription(conn, caller.user, _wish(settings.notify, address, severity), is_of_grid=True)


@change_endpoint("/subscriptions/{subscription_id}/remove", Access.HOLDER)
def unsubscribe(conn: "Connection", caller: Caller, *, subscription_id: int) -> SubscriptionView:
    """Nothing more is told, nor what was to be told still."""
    from cigri.flow.subscriptions import end_subscription

    return end_subscription(conn, subscription_id, caller)


@change_endpoint("/subscriptions/{subscription_id}/secret", Access.HOLDER)
def new_secret(conn: "Connection", caller: Caller, *, subscription_id: int) -> RotatedSecret:
    """Of a webhook: what is sent is signed by another secret from now on."""
    from cigri.flow.subscriptions import renew_secret

    return renew_secret(conn, subscription_id, caller)


def _wish(settings: "NotifySettings", address: str, severity: Severity | None) -> "SubscriptionRequest":
    """Raise UsageError where nobody could be told so, CigriError where this grid tells nobody so."""
    from cigri.formats.subscriptions import read_subscribing

    with about("address"):
        wish = read_subscribing(address, severity)
    if wish.channel is Channel.MAIL and not settings.smtp:
        raise CigriError("this grid sends no mail: its operator has not set notify.smtp")
    if wish.channel is Channel.EXEC and settings.commands == "none":
        raise CigriError("this grid runs no commands: its operator has set notify.commands to none")
    return wish
