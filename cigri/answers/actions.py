"""What became of what somebody wanted to be done."""

from typing import NamedTuple


class ActionResult(NamedTuple):
    """What was asked of one campaign or job, and what came of it; `details` is told to those who ask for more.

    `done` is False where a command tells in `message` why it was refused; the API refuses by an error.
    """

    id: int
    done: bool
    message: str
    details: str = ""


class PriorityView(NamedTuple):
    """Where a campaign stands among those of its owner: higher ones go first."""

    id: int
    priority: int


class ResubmittedTasks(NamedTuple):
    """How many tasks of a campaign wait again."""

    id: int
    resubmitted: int
