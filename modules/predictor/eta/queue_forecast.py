"""What batch systems say of waiting jobs, where nothing of a campaign runs: its end is not before they start; pure."""

from collections.abc import Mapping
from datetime import datetime

from cigri.flow.views.campaign_progress import CampaignProgress
from cigri.flow.waiting_reasons import QueueOutlook
from modules.predictor.campaign_estimates import estimate
from modules.predictor.eta.campaign_end import EndInterval


def heed(
    ends: Mapping[int, EndInterval],
    totals: Mapping[int, CampaignProgress],
    outlooks: Mapping[int, QueueOutlook],
    now: datetime,
) -> dict[int, EndInterval]:
    """Seconds from now until each ends; one of which all jobs wait in vain has no end.

    Batch systems reckon with walltimes, and most jobs end sooner: what they say moves the expected end and the upper
    bound, not the lower one.
    """
    heeded = dict(ends)
    for id in ends.keys() & outlooks.keys():
        outlook = outlooks[id]
        if outlook.is_stuck:
            del heeded[id]
        elif outlook.starts_at is not None:
            least = (outlook.starts_at - now).total_seconds() + (estimate(totals[id]) or 0.0)
            low, expected, high = ends[id]
            heeded[id] = EndInterval(low, max(expected, least), max(high, least))
    return heeded
