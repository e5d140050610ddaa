"""What went wrong in campaigns."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import Outcome


class FailureGroup(NamedTuple):
    """Tasks that failed alike."""

    number: int
    """How many tasks failed alike."""
    cluster: str | None
    """Where they failed."""
    outcome: Outcome | None
    """How their last attempts ended."""
    exit_code: int | None
    """The exit code of these attempts."""
    means: str | None
    """What the exit code says; null where it is the program's own business."""
    stderr_ends: str | None
    """With what their standard error ends, for the owner."""
    tasks: list[int]
    """Their numbers in the campaign, in order."""
    last_job: int | None
    """The job of the last one."""


class ErrorView(NamedTuple):
    """An open event that the user of a campaign should deal with."""

    id: int
    """The event's number."""
    code: str
    """What happened, in one word."""
    campaign_id: int
    """The campaign it is about."""
    user: str
    """Whose campaign it is."""
    cluster: str | None
    """The cluster it is about."""
    job_id: int | None
    """The job it is about."""
    task_id: int | None
    """The id of the task it is about."""
    times: int
    """How often it has happened."""
    opened_at: datetime
    """When it happened first."""
    last_at: datetime
    """When it happened last."""
    message: str
    """What happened, in a sentence; "" for others than the owner."""
