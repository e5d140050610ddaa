"""Who changed what."""

from datetime import datetime
from typing import NamedTuple


class AuditEntry(NamedTuple):
    """A change: `how` its user was known, and what was `asked` of which `endpoint`, shortened where it is long."""

    id: int
    at: datetime
    user: str
    how: str
    endpoint: str
    asked: dict[str, object]
