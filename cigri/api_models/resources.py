"""What operators have described of sites, clusters and queues."""

from datetime import datetime
from typing import NamedTuple


class AppliedDocument(NamedTuple):
    """A document that was applied, as it was written."""

    version: int
    """Its number; the highest one holds."""
    at: datetime
    """When it was applied."""
    by: str
    """Who has applied it."""
    text: str
    """What was written."""


class AppliedChanges(NamedTuple):
    """What a document changes, or would."""

    changes: list[str]
    """Each in a line."""
    doubts: list[str]
    """What is named in it and known to nobody."""
    version: int | None
    """The version that holds from now on; null: nothing was applied."""
