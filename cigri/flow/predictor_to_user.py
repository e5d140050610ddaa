"""What was forecast of campaigns that have ended, for those who want to know how far forecasts can be trusted."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from cigri.estimates.calibration import Told
from cigri.states import CampaignState
from cigri.tables.campaigns import Campaign, ForecastHistory


def list_told(conn: Connection, campaign_ids: Sequence[int]) -> list[Told]:
    """Every interval in the history of those campaigns that came to their own end."""
    statement = (
        select(ForecastHistory.c.eta_low, ForecastHistory.c.eta_high, Campaign.c.ended_at)
        .join(Campaign, Campaign.c.id == ForecastHistory.c.campaign_id)
        .where(Campaign.c.id.in_(campaign_ids), Campaign.c.state == CampaignState.TERMINATED)
        .where(ForecastHistory.c.cluster_id.is_(None), ForecastHistory.c.eta_low.is_not(None))
        .where(ForecastHistory.c.at < Campaign.c.ended_at, ForecastHistory.c.remaining > 0)
        .order_by(ForecastHistory.c.at)
    )
    return [Told(low, high, end) for low, high, end in conn.execute(statement) if low and high and end]
