"""What jobs demand of queues."""

from datetime import datetime
from typing import Any, NamedTuple


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
