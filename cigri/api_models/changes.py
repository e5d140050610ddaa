"""What became of what somebody wanted to be done."""

from datetime import datetime
from typing import NamedTuple

from cigri.api_models.files import RefreshedInputs


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


class ChangeConfirmation(NamedTuple):
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
    inputs: RefreshedInputs | None = None
    """What became of new inputs that were named with it; null: none were."""


# Who changed what.


class AuditEntry(NamedTuple):
    """A change that somebody made."""

    id: int
    """The change's number."""
    at: datetime
    """When it was made."""
    user: str
    """Who made it."""
    how: str
    """How this user was known: `kernel`, `proxy`, or by which token or session, as `token 12`."""
    endpoint: str
    """What was done, by its name, as in /openapi.json."""
    asked: dict[str, object]
    """Its parameters, shortened where they are long."""
