"""What went wrong in campaigns."""

from datetime import datetime
from typing import NamedTuple

from cigri.states import Outcome


class FailureKind(NamedTuple):
    """Tasks that failed alike, so many of them, by their numbers in order.

    `means`: what the exit code says, None where it is the program's own business. `stderr_ends` is for the owner.
    """

    number: int
    cluster: str | None
    outcome: Outcome | None
    exit_code: int | None
    means: str | None
    stderr_ends: str | None
    tasks: list[int]
    last_job: int | None


class ErrorView(NamedTuple):
    """An open event that the `user` of a campaign should deal with; `message` is for this user, "" for others."""

    id: int
    code: str
    campaign_id: int
    user: str
    cluster: str | None
    job_id: int | None
    task_id: int | None
    times: int
    opened_at: datetime
    last_at: datetime
    message: str
