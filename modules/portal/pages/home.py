"""The home page: a line for each campaign, of who looks or of whom they name."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import Response

from cigri.api_models.campaigns import CampaignView
from cigri.endpoints.campaigns import campaigns
from cigri.endpoints.dispatch import SnapshotClient
from cigri.endpoints.health import notices
from cigri.endpoints.histories import rates
from cigri.endpoints.paging import walk
from cigri.endpoints.pending_reasons import why
from cigri.errors import UsageError
from cigri.formats.id_ranges import format_ids
from modules.portal.change_stream import stamp_of
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.campaign_row import Sparkline, bar, expected_end, sparkline, worst_reason
from modules.portal.rendering.page_router import PageRouter, Site

MOST_LINES = 100
MOST_REASONS = 10
"""Campaigns of which it is asked what keeps them: those that run nothing."""
ANY_USER = "*"
ENDED_DAYS, ENDED_LINES = 7, 20
HOME_STATES = {
    "": "open",
    "held": "held",
    "terminated": "ended",
    "cancelled": "cancelled",
    "all": "any state",
}
"""What may be chosen, and how it is called."""
HOME_ORDERS = {
    "id": "oldest first",
    "-id": "newest first",
    "name": "name",
    "-name": "name, backwards",
    "project": "project",
    "state": "state",
}


class HomeQuery(NamedTuple):
    """What the address asks for, and the form shows."""

    user: str
    name: str
    project: str
    state: str
    order: str

    @property
    def is_filtered(self) -> bool:
        """Is it asked for more than all that is open of somebody?"""
        return bool(self.name or self.project or self.state)

    def address(self, **changed: object) -> str:
        """The same list with something changed; what is as usual is left out."""
        asked = {**self._asdict(), **changed}
        asked = {key: value for key, value in asked.items() if value and (key, value) != ("order", "id")}
        return f"/?{urlencode(asked)}" if asked else "/"


home_pages = PageRouter()


@home_pages.page("/")
def home(
    site: Site,
    request: Request,
    user: PlainText = "",
    name: PlainText = "",
    project: PlainText = "",
    state: PlainText = "",
    order: PlainText = "",
    after: PlainNumber = 0,
) -> Response:
    """List campaigns of `user` (`*`: of everybody) as HomeQuery filters them, from behind the one numbered `after`."""
    caller = site.visitor(request)
    query = _known(HomeQuery(user or caller.user, name.strip(), project.strip(), state, order or "id"))
    asked = "" if query.user == ANY_USER else query.user
    with site.grid(caller).snapshot() as grid:
        listed = grid.call(campaigns, **_filters(query), after=after, limit=MOST_LINES)
        ended = [] if query.is_filtered or after else _ended(grid, asked)
        sparks, reasons = _sparks(grid, [*listed, *ended]), _reasons(grid, listed)
        sentences = grid.call(notices, user=asked).sentences
    return site.show(
        request,
        "home.html",
        caller,
        stamp=stamp_of(campaign for campaign in listed if campaign.is_open),
        query=query,
        whose=query.user,
        is_everybody=not asked,
        states=HOME_STATES,
        orders=HOME_ORDERS,
        lines=[(campaign, bar(campaign), expected_end(campaign)) for campaign in listed],
        ended=[(campaign, bar(campaign), expected_end(campaign)) for campaign in ended],
        days=ENDED_DAYS,
        sparks=sparks,
        reasons=reasons,
        following=query.address(after=listed[-1].id) if len(listed) == MOST_LINES else None,
        sentences=sentences,
    )


def _known(query: HomeQuery) -> HomeQuery:
    """Raise UsageError for what there is not to choose."""
    for name, value, known in (("state", query.state, HOME_STATES), ("order", query.order, HOME_ORDERS)):
        if value not in known:
            raise UsageError(f"{name} {value!r} is not known here; there are {', '.join(filter(None, known))}")
    return query


def _filters(query: HomeQuery) -> dict[str, Any]:
    """As the endpoint takes them."""
    asked = query._asdict() | {"user": "" if query.user == ANY_USER else query.user}
    return asked | {"state": "", "with_ended": True} if query.state == "all" else asked


def _ended(grid: SnapshotClient, user: str) -> list[CampaignView]:
    """Those that ended lately, the newest first."""
    return grid.call(campaigns, user=user, state="ended", ended_within=ENDED_DAYS, order="-id", limit=ENDED_LINES)


def _sparks(grid: SnapshotClient, listed: list[CampaignView]) -> dict[int, Sparkline | None]:
    """How fast each was in the last day of its life."""
    told = grid.call(rates, campaigns=format_ids([campaign.id for campaign in listed])) if listed else []
    return {rate.campaign_id: sparkline(rate) for rate in told}


def _reasons(grid: SnapshotClient, listed: list[CampaignView]) -> dict[int, str]:
    """In words, of those that run nothing though something waits."""
    still = [campaign for campaign in listed if campaign.is_open and campaign.waiting and not campaign.running]
    told = {campaign.id: walk(grid, why, campaign_id=campaign.id) for campaign in still[:MOST_REASONS]}
    return {campaign_id: worst_reason(reasons) for campaign_id, reasons in told.items()}
