"""What happened, as people read it."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import EventLevel, Outcome


class SeenEvent(NamedTuple):
    """An event; `parameter` is that of the task it is about, `closed_at` None while it is open.

    `outcome` and `exit_code` are those of the attempt at its task, or of its job.
    """

    id: int
    code: str
    level: EventLevel
    subject: str
    message: str
    campaign_id: int | None
    cluster: str | None
    job_id: int | None
    task: int | None
    parameter: object | None
    times: int
    opened_at: datetime
    last_at: datetime
    closed_at: datetime | None
    closed_by: str | None
    outcome: Outcome | None
    exit_code: int | None


class EventCounts(NamedTuple):
    """How many events there are: of those asked for, and open ones that concern clusters and the grid."""

    chosen: int
    open_global: int


class FixedEvents(NamedTuple):
    """How many events were closed; `failed_before`: where there was none, failed tasks of each campaign."""

    fixed: int
    failed_before: dict[int, int]
