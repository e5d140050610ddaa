"""How campaigns came to where they are."""

from datetime import datetime
from typing import NamedTuple

MOST_PERIODS = 60
"""Of a rate."""


class CampaignRate(NamedTuple):
    """How fast a campaign did its tasks in the last day of its life, in periods of the same length."""

    campaign_id: int
    """The campaign's number."""
    since: datetime
    """When the first period began."""
    period: float
    """Seconds of each period, whole minutes."""
    done: list[int]
    """Tasks that were done in each period, the oldest first; the last one ends now, or when the campaign ended."""
