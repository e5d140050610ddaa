"""What `gridstat --json` tells of campaigns: a list in any case, with the same fields of one as of many."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from cigri import installation
from cigri.cli.campaigns import served_by, share_throughput, true_throughput
from cigri.cli.failures import plain_kinds, read_failures
from cigri.cli.obstacles import obstacle
from cigri.cli.tried import plain_tried
from cigri.estimates.calibration import calibration
from cigri.flow.forecasts import list_told
from cigri.flow.views.campaigns import CampaignView, PartView, list_parts, present
from cigri.flow.views.clusters import list_tried
from cigri.states import CampaignType


def plain_list(campaigns: Sequence[CampaignView]) -> list[dict[str, Any]]:
    """In brief: there may be thousands."""
    default = installation.default_scheduler()
    return [
        {
            **campaign._asdict(),
            "throughput": true_throughput(campaign),
            "total": campaign.total,
            "served_by": served_by(campaign, default),
        }
        for campaign in campaigns
    ]


def plain_whole(conn: Connection, campaigns: Sequence[CampaignView]) -> list[dict[str, Any]]:
    """With what is known of each beyond its numbers."""
    now = present(conn)
    parts: dict[int, list[PartView]] = {campaign.id: [] for campaign in campaigns}
    for part in list_parts(conn, list(parts)):
        parts[part.campaign_id].append(part)
    return [
        {**brief, **_more(conn, campaign, parts[campaign.id], now)}
        for brief, campaign in zip(plain_list(campaigns), campaigns, strict=True)
    ]


def _more(conn: Connection, campaign: CampaignView, parts: Sequence[PartView], now: datetime) -> dict[str, Any]:
    is_test = campaign.type is CampaignType.TEST
    return {
        "calibration": calibration(list_told(conn, [campaign.id])),
        "clusters": [_plain_part(campaign, part, now) for part in parts],
        "failures": plain_kinds(read_failures(conn, campaign)),
        "tests": plain_tried(campaign, parts, list_tried(conn, campaign.id), now) if is_test else [],
    }


def _plain_part(campaign: CampaignView, part: PartView, now: datetime) -> dict[str, Any]:
    standing = {"throughput": share_throughput(campaign, part), "obstacle": obstacle(campaign, part, now)._asdict()}
    return {**part._asdict(), **standing}
