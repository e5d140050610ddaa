"""The home page: a line for each campaign, of who looks or of whom they name."""

from fastapi import FastAPI, Request
from starlette.responses import Response

from cigri.api_models.campaigns import CampaignView
from cigri.endpoints.campaigns import campaigns
from cigri.endpoints.dispatch import SnapshotClient
from cigri.endpoints.health import notices
from cigri.endpoints.histories import rates
from cigri.endpoints.pending_reasons import why
from cigri.formats.id_ranges import format_ids
from modules.portal.change_stream import stamp_of
from modules.portal.parameter_limits import PlainNumber, PlainText
from modules.portal.rendering.campaign_row import Sparkline, bar, expected_end, sparkline, worst_reason
from modules.portal.rendering.page_renderer import PageRenderer, add_page

MOST_LINES = 100
MOST_REASONS = 10
"""Campaigns of which it is asked what keeps them: those that run nothing."""
ANY_USER = "*"


def add_to(app: FastAPI, site: PageRenderer) -> None:
    """/, with ?user=NAME (*: everybody's), ?ended=1, and after=ID for those behind it."""

    def home(request: Request, user: PlainText = "", ended: bool = False, after: PlainNumber = 0) -> Response:
        caller = site.visitor(request)
        whose = user or caller.user
        asked = "" if whose == ANY_USER else whose
        with site.grid(caller).snapshot() as grid:
            listed = grid.call(campaigns, user=asked, with_ended=ended, after=after, limit=MOST_LINES)
            sparks, reasons = _sparks(grid, listed), _reasons(grid, listed)
            sentences = grid.call(notices, user=asked).sentences
        return site.show(
            request,
            "home.html",
            caller,
            stamp=stamp_of(campaign for campaign in listed if campaign.is_open),
            whose=whose,
            is_everybody=not asked,
            with_ended=ended,
            lines=[(campaign, bar(campaign), expected_end(campaign)) for campaign in listed],
            sparks=sparks,
            reasons=reasons,
            last=listed[-1].id if len(listed) == MOST_LINES else None,
            sentences=sentences,
        )

    add_page(app, "/", "GET", home)


def _sparks(grid: SnapshotClient, listed: list[CampaignView]) -> dict[int, Sparkline | None]:
    """How fast each was in the last day of its life."""
    told = grid.call(rates, campaigns=format_ids([campaign.id for campaign in listed])) if listed else []
    return {rate.campaign_id: sparkline(rate) for rate in told}


def _reasons(grid: SnapshotClient, listed: list[CampaignView]) -> dict[int, str]:
    """In words, of those that run nothing though something waits."""
    still = [campaign for campaign in listed if campaign.is_open and campaign.waiting and not campaign.running]
    told = {campaign.id: grid.call(why, campaign_id=campaign.id) for campaign in still[:MOST_REASONS]}
    return {campaign_id: worst_reason(reasons) for campaign_id, reasons in told.items()}
