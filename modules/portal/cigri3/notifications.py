"""Who is told by mail, as CiGri 3's gridnotify lists and changes it; and its lists that are always empty here."""

import json
from http import HTTPStatus
from typing import Any

from cigri.api_models.subscriptions import SubscriptionView
from cigri.endpoints import subscriptions as endpoints
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.paging import walk
from cigri.errors import NotFound, UsageError
from cigri.states import Channel, Severity
from modules.portal.cigri3.dispatch import Cigri3Request, Cigri3Response, accepted, link


def list_notifications(asked: Cigri3Request) -> Cigri3Response:
    """The caller's own subscriptions to mail about all campaigns."""
    items = [
        {"grid_user": one.user, "type": str(one.channel), "identity": one.target, "severity": str(one.severity)}
        for one in _by_mail(asked)
    ]
    return Cigri3Response({"items": items, "links": [link("self", "/notifications")]})


def subscribe_by_mail(asked: Cigri3Request) -> Cigri3Response:
    """An address and a severity, in JSON."""
    try:
        wish = json.loads(asked.body)
        address, severity = str(wish["identity"]), Severity(wish["severity"])
    except (ValueError, KeyError, TypeError):
        raise UsageError('write {"identity": "me@example.org", "severity": "low"}, or medium, or high') from None
    asked.grid.call(endpoints.subscribe, address=f"{Channel.MAIL}:{address}", severity=severity)
    status = HTTPStatus.CREATED
    return Cigri3Response({"status": status, "title": status.phrase, "message": "New subscription created"}, status)


def unsubscribe_by_mail(asked: Cigri3Request) -> Cigri3Response:
    """Of the address that is named."""
    identity = asked.options.get("identity", "")
    chosen = [one for one in _by_mail(asked) if one.target == identity]
    if not chosen:
        raise NotFound(f"you are told of no campaigns at {identity[:60]!r}")
    asked.grid.call(endpoints.unsubscribe, subscription_id=chosen[0].id)
    return accepted("Unsubscription ok")


def list_tokens(_asked: Cigri3Request) -> Cigri3Response:
    """None: clusters are reached by SSH, and this CiGri's own tokens are told nobody."""
    return _empty("/tokens")


def list_finished(asked: Cigri3Request) -> Cigri3Response:
    """None that a client is to clean up after: the grid removes what jobs leave."""
    number = asked.number("campaign")
    asked.grid.call(campaign, campaign_id=number)
    return _empty(f"/campaigns/{number}/jobs/finished")


def _empty(here: str) -> Cigri3Response:
    items: list[Any] = []
    return Cigri3Response({"items": items, "links": [link("self", here)]})


def _by_mail(asked: Cigri3Request) -> list[SubscriptionView]:
    return [
        one
        for one in walk(asked.grid, endpoints.subscriptions)
        if one.user == asked.caller.user
        and one.channel is Channel.MAIL
        and one.campaign_id is None
        and not one.is_of_grid
    ]
