"""How campaigns came to where they are."""

from datetime import datetime
from typing import NamedTuple

MOST_PERIODS = 60
"""Of a rate."""
MOST_MOMENTS = 200
"""Of a chart."""


class ThroughputHistory(NamedTuple):
    """How fast a campaign did its tasks in the last day of its life, in periods of the same length."""

    campaign_id: int
    """The campaign's number."""
    since: datetime
    """When the first period began."""
    period: float
    """Seconds of each period, whole minutes."""
    done: list[int]
    """Tasks that were done in each period, the oldest first; the last one ends now, or when the campaign ended."""


class ProgressPoint(NamedTuple):
    """How far a campaign was."""

    at: datetime
    """When it was so far."""
    done: int
    """Tasks that were done then."""
    failed: int
    """Tasks that had failed then."""


class EndForecastPoint(NamedTuple):
    """What was forecast of a campaign's end, as it was said then."""

    at: datetime
    """When it was said."""
    eta: datetime
    """When the campaign was expected to end."""
    eta_low: datetime | None
    """The early end of the interval that held its end with a probability of 90 %; null: none was said."""
    eta_high: datetime | None
    """The late end of this interval; null: none was said."""


class ProgressHistory(NamedTuple):
    """How a campaign came to where it is, and what was expected on the way."""

    total: int
    """All its tasks."""
    points: list[ProgressPoint]
    """From when it was submitted until now, or until it ended; at most 200."""
    forecasts: list[EndForecastPoint]
    """The oldest first, without times at which no end was known; at most 200."""


class ClusterCoresSeries(NamedTuple):
    """Cores of a campaign's running jobs on a cluster."""

    cluster: str
    """One of its clusters."""
    cores: list[int]
    """Cores that its running jobs had there, at each moment."""


class CoresHistory(NamedTuple):
    """The cores of a campaign's running jobs over time."""

    moments: list[datetime]
    """From when it was submitted until now, or until it ended; at most 200."""
    clusters: list[ClusterCoresSeries]
    """Each of its clusters that it ever had cores of."""
