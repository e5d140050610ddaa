"""How tasks fail, as the events of their failures tell it; pure."""

import re
from typing import NamedTuple

from cigri.formats.untrusted_text import NEWLINE
from cigri.states import Outcome

TASK_FAILED = "TASK_FAILED"
STDERR = "; stderr ends: "
"""In the message of an event, before what the task has written last."""
VARYING = re.compile(
    r"(?<![\w/.])(?:~|\.{1,2})?(?:/[^\s/:;,'\"()<>\[\]]+)+/?"  # paths
    r"|0x[0-9a-f]+|\b(?=[a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*\b"  # addresses, digests, UUIDs
    r"|\d+(?:\.\d+)?(?:e[+-]?\d+)?",
    re.IGNORECASE,
)
"""What differs between messages that mean the same."""


class TaskFailure(NamedTuple):
    """How a task, by its number, failed last. `said`: the last line of its standard error, "" when nobody read it."""

    campaign_id: int
    task: int
    cluster: str | None
    outcome: Outcome | None
    exit_code: int | None
    said: str
    job_id: int | None = None
    event_id: int | None = None


def last_stderr_line(message: str) -> str:
    """The last line of standard error that an event's message holds."""
    _, _, said = message.partition(STDERR)
    return next((line.strip() for line in reversed(said.replace(NEWLINE, "\n").splitlines()) if line.strip()), "")
