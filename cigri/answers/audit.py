"""Who changed what."""

from datetime import datetime
from typing import NamedTuple


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
