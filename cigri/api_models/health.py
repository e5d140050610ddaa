"""What the doctor has looked at."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class CheckStatus(StrEnum):
    """`odd`: a person may want to look, and no promise is broken."""

    GOOD = "good"
    BROKEN = "broken"
    ODD = "odd"


class HealthCheck(NamedTuple):
    """Something that should hold of the grid."""

    rule: str
    """What should hold."""
    verdict: CheckStatus
    """Whether it does."""
    details: Sequence[str]
    """What is wrong; empty: nothing is."""


class HealthReport(NamedTuple):
    """What the doctor finds without looking at every task."""

    now: datetime
    """When it looked, by the grid's clock."""
    checks: list[HealthCheck]
    """In the order in which they were made."""
    examined_at: datetime | None
    """When the janitor last looked at every task for broken promises; null: it has never ended a pass."""


# Whether the grid is at work for somebody's campaigns.


class OutageReport(NamedTuple):
    """What stands still."""

    now: datetime
    """The grid's time, by which all others are to be read."""
    sentences: list[str]
    """A sentence for each thing that stands still."""
