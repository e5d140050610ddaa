"""What became of what somebody wanted to be done."""

from typing import NamedTuple


class ActionResult(NamedTuple):
    """What was asked of one campaign or job, and what came of it."""

    id: int
    """The campaign's or the job's number."""
    done: bool
    """Whether it was done; the API refuses by an error instead."""
    message: str
    """What became of it."""
    details: str = ""
    """What else is to be known, for those who ask for more."""


class Done(NamedTuple):
    """What an operator wanted to be so is so."""

    message: str
    """What was done, as a sentence."""


class PriorityView(NamedTuple):
    """Where a campaign stands among those of its owner: higher ones go first."""

    id: int
    """The campaign's number."""
    priority: int
    """Its priority among its owner's campaigns from now on."""


class ResubmittedTasks(NamedTuple):
    """How many tasks of a campaign wait again."""

    id: int
    """The campaign's number."""
    resubmitted: int
    """How many tasks wait again."""
