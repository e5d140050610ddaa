"""What operators have described of sites, clusters and queues."""

from datetime import datetime
from typing import Any, NamedTuple


class ResourceDocumentView(NamedTuple):
    """A document that was applied, as it was written."""

    version: int
    """Its number; the highest one holds."""
    at: datetime
    """When it was applied."""
    by: str
    """Who has applied it."""
    text: str
    """What was written."""


class ResourceChanges(NamedTuple):
    """What a document changes, or would."""

    changes: list[str]
    """Each in a line."""
    doubts: list[str]
    """What is named in it and known to nobody."""
    version: int | None
    """The version that holds from now on; null: nothing was applied."""


# What jobs demand of queues.


class PoolView(NamedTuple):
    """A submit pool as operators see it."""

    id: int
    """The pool's number."""
    digest: str
    """The same for the same demands."""
    project: str
    """The project of its jobs; empty: of none."""
    requirements: dict[str, Any]
    """What its jobs demand of a queue."""
    updated_at: datetime
    """When its queues were computed."""
    last_used_at: datetime
    """When a campaign last wanted it."""
    queues: int
    """How many are eligible."""
    buckets: int
    """How many of open campaigns are of it."""
