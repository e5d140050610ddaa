"""What would become of campaigns that were submitted now."""

from datetime import datetime
from typing import NamedTuple


class CampaignSimulationView(NamedTuple):
    """A campaign as several simulations foretell it; times are seconds from its submission, null: none saw its end."""

    name: str
    """As its user called it."""
    tasks: int
    """How many tasks it has."""
    low: float | None
    """When the interval begins that holds its end with a probability of 90 %."""
    expected: float | None
    """When it is expected to end."""
    high: float | None
    """When that interval ends."""
    runs: int
    """How many simulations there were."""
    cut: int
    """How many of them were not over in their time."""
    unfinished: int
    """How many of them had no end in sight."""
    shares: dict[str, float]
    """The part of its tasks on each cluster."""
    core_hours: dict[str, float]
    """What it would use of each cluster."""
    task: float
    """Seconds that one task is thought to last."""
    durations: str
    """Who says how long tasks last."""
    cores: float
    """How many cores one simulated core stood for."""
    together: int
    """How many tasks one simulated task stood for."""
    low_end: datetime | None
    """The date of `low`."""
    expected_end: datetime | None
    """The date of `expected`."""
    high_end: datetime | None
    """The date of `high`."""
    notes: list[str]
    """For these it would not be refused."""


class SimulationView(NamedTuple):
    """Campaigns that were looked at together, as if they were submitted now; nothing was."""

    at: datetime
    """When they would be submitted."""
    campaigns: list[CampaignSimulationView]
    """Each of them, in the order in which they were sent."""
    closed: dict[str, str]
    """Of the clusters that they name, those that are left out, and why."""
    ahead: int
    """How many campaigns have tasks to do now, whoever's they are."""
