"""What the types of jobs mean on a cluster whose operator has declared hours: pure, the time is given.

`nightly` jobs are in a cluster within its hours only. `semi-best-effort` ones are normal jobs within the hours, as far
as they end in time, and best-effort ones otherwise. A cluster without hours is never within them.
"""

from collections.abc import Sequence
from datetime import datetime

from cigri.formats.units import as_duration
from cigri.settings.cluster_config import ClusterConfig
from cigri.settings.operating_hours import OperatingHours, parse_hours
from cigri.settings.sections import HoursSettings

NIGHTLY, SEMI = "nightly", "semi-best-effort"


def hours_of(config: ClusterConfig, grid: HoursSettings) -> OperatingHours | None:
    """The cluster's own hours, else the grid's; None: neither has any."""
    return find_hours(config.hours, config.timezone, grid)


def find_hours(windows: Sequence[str] | None, timezone: str, grid: HoursSettings) -> OperatingHours | None:
    """A cluster's own, with the grid's windows for None and its time zone for an empty one; None: there are none."""
    return parse_hours(grid.windows if windows is None else windows, timezone or grid.timezone)


def may_start(type: str, hours: OperatingHours | None, now: datetime, walltime: float, *, overrun: bool) -> bool:
    """May such a job start now, or be in a queue? `overrun`: also if it may have to be killed at the end."""
    if type != NIGHTLY:
        return True
    return hours is not None and (hours.at(now).is_open if overrun else hours.fits(now, walltime))


def is_besteffort(type: str, hours: OperatingHours | None, now: datetime, walltime: float) -> bool:
    """Is such a job submitted now one that the cluster's own users may push aside?"""
    if type == SEMI:
        return hours is None or not hours.fits(now, walltime)
    return type != "normal"


def has_to_leave(
    type: str,
    hours: OperatingHours | None,
    now: datetime,
    walltime: float,
    *,
    submitted_at: datetime,
    is_running: bool,
    overrun: bool,
) -> bool:
    """A nightly job when the hours are over, or leave no time for it to start; a semi-best-effort one in the queue too.

    The latter only if it was submitted as a normal job: it comes back as a best-effort one.
    """
    if type == NIGHTLY and is_running:
        return hours is None or not hours.at(now).is_open
    if is_running:
        return False
    was_normal = type == SEMI and not is_besteffort(type, hours, submitted_at, walltime)
    is_late = was_normal and is_besteffort(type, hours, now, walltime)
    return is_late or not may_start(type, hours, now, walltime, overrun=overrun)


def why_never_starts(type: str, hours: OperatingHours | None, now: datetime, walltime: float, *, overrun: bool) -> str:
    """Why such a job can never run, or ""."""
    if type != NIGHTLY:
        return ""
    if hours is None:
        return "its operator has declared no hours for jobs of type nightly; write 'best-effort'"
    longest = hours.longest(now)
    stretch = hours.at(now)
    is_endless = stretch.is_open and stretch.until is None
    if overrun or is_endless or longest.total_seconds() >= walltime:
        return ""
    return f"its hours are never longer than {as_duration(longest.total_seconds())}, the walltime is longer"
