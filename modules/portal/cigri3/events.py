"""Events as CiGri 3 told them, and that they are fixed."""

from typing import Any

from cigri.api_models.events import EventView
from cigri.endpoints import events as endpoints
from cigri.endpoints.events import USUAL_EVENTS
from cigri.errors import NotFound
from modules.portal.cigri3.clusters import numbers_of_clusters
from modules.portal.cigri3.codes import as_code, as_date
from modules.portal.cigri3.dispatch import Cigri3Request, Cigri3Response, accepted, link

CLOSED_AT_ONCE = "PURGE"
"""The event that CiGri 3 told as closed from the beginning; here it is open until the files are removed."""


def list_of_campaign(asked: Cigri3Request) -> Cigri3Response:
    """The open ones, or `all`; raise NotFound where there are none, by which clients say so."""
    number, limit = asked.number("campaign"), asked.count("limit", USUAL_EVENTS)
    with_closed = "all" in asked.options
    found = asked.grid.call(endpoints.events, campaigns=str(number), with_closed=with_closed, limit=limit)
    total = asked.grid.call(endpoints.event_counts, campaigns=str(number), with_closed=with_closed).chosen
    listed = [event for event in found if with_closed or event.code != CLOSED_AT_ONCE]
    if not listed:
        raise NotFound(f"campaign {number} has no {'' if with_closed else 'open '}events")
    hidden = len(found) - len(listed)
    return Cigri3Response({"items": _listed(asked, listed), "total": total - hidden, "offset": 0})


def list_global(asked: Cigri3Request) -> Cigri3Response:
    """Those of clusters and the grid; raise NotFound where there are none."""
    limit, with_closed = asked.count("limit", USUAL_EVENTS), "all" in asked.options
    found = asked.grid.call(endpoints.events, is_global=True, with_closed=with_closed, limit=limit)
    if not found:
        raise NotFound(f"there are no {'' if with_closed else 'open '}events of clusters and the grid")
    return Cigri3Response({"items": _listed(asked, found), "offset": 0})


def show_event(asked: Cigri3Request) -> Cigri3Response:
    number = asked.number("event")
    links = [link("self", f"/events/{number}"), link("parent", "/events")]
    return Cigri3Response(_as_event(_find(asked, number), numbers_of_clusters(asked)) | {"links": links})


def fix_event(asked: Cigri3Request) -> Cigri3Response:
    """One of a campaign of the caller's, or, for operators, of the grid."""
    number = asked.number("event")
    found = _find(asked, number)
    asked.grid.call(
        endpoints.fix_events,
        ids=str(number),
        is_global=found.campaign_id is None,
        resubmit=_is_to_resubmit(asked),
    )
    return accepted(f"Event {number} closed")


def fix_campaign(asked: Cigri3Request) -> Cigri3Response:
    number = asked.number("campaign")
    fixed = asked.grid.call(endpoints.fix_events, campaigns=str(number), resubmit=_is_to_resubmit(asked))
    return accepted(f"Campaign {number}: {fixed.fixed} events closed")


def _is_to_resubmit(asked: Cigri3Request) -> bool:
    """`gridevents -f -a -r` asks with ?all=1?resubmit=1."""
    return "resubmit" in asked.options or "?resubmit" in asked.options.get("all", "")


def _find(asked: Cigri3Request, number: int) -> EventView:
    try:
        return asked.grid.call(endpoints.events, ids=str(number))[0]
    except NotFound:
        return asked.grid.call(endpoints.events, ids=str(number), is_global=True)[0]


def _listed(asked: Cigri3Request, found: list[EventView]) -> list[dict[str, Any]]:
    numbers = numbers_of_clusters(asked)
    return [_as_event(event, numbers) for event in found]


def _as_event(event: EventView, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "id": event.id,
        "class": _class_of(event),
        "code": as_code(event.code),
        "job_id": event.job_id,
        "cluster_id": None if event.cluster is None else numbers.get(event.cluster),
        "cluster_name": event.cluster,
        "campaign_id": event.campaign_id,
        "date_open": as_date(event.opened_at),
        "date_closed": as_date(event.closed_at),
        "message": event.message,
        "parent": None,
        "state": "open" if event.closed_at is None and event.code != CLOSED_AT_ONCE else "closed",
    }


def _class_of(event: EventView) -> str:
    if event.job_id is not None:
        return "job"
    if event.campaign_id is not None:
        return "campaign"
    return "log" if event.cluster is None else "cluster"
