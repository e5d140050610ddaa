"""What happened, as people read it."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import EventLevel, Outcome


class EventView(NamedTuple):
    """An event."""

    id: int
    """The event's number."""
    code: str
    """What happened, in one word."""
    level: EventLevel
    """How much it matters."""
    subject: str
    """What it is about: the campaign, cluster or job in words."""
    message: str
    """What happened, in a sentence."""
    campaign_id: int | None
    """The campaign it is about."""
    cluster: str | None
    """The cluster it is about."""
    job_id: int | None
    """The job it is about."""
    task: int | None
    """The task it is about, by its number in the campaign."""
    parameter: object | None
    """The parameter of this task."""
    times: int
    """How often it has happened."""
    opened_at: datetime
    """When it happened first."""
    last_at: datetime
    """When it happened last."""
    closed_at: datetime | None
    """When it was closed; null while it is open."""
    closed_by: str | None
    """Who closed it."""
    outcome: Outcome | None
    """How the attempt at its task, or its job, ended."""
    exit_code: int | None
    """The exit code of this attempt, or job."""


class EventCounts(NamedTuple):
    """How many events there are."""

    chosen: int
    """How many there are of those that were asked for."""
    open_global: int
    """How many are open that concern clusters and the grid."""


class FixResult(NamedTuple):
    """What closing events came to."""

    fixed: int
    """How many were closed."""
    failed_before: dict[int, int]
    """Failed tasks by campaign, where there was no event to close."""
