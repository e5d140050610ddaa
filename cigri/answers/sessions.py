"""Sessions of browsers."""

from datetime import datetime
from typing import NamedTuple

from cigri.identity.callers import Scope


class SignInLink(NamedTuple):
    """A link that was just made."""

    url: str
    """What a browser opens, which is told here only."""
    id: int
    """The number of the session that it begins."""
    user: str
    """Whose it is."""
    scope: Scope
    """The most that may be done in it."""
    opens_until: datetime
    """Until when the link opens it, once."""
    expires_at: datetime
    """When the session ends."""


class EndedSessions(NamedTuple):
    """Sessions that are over now."""

    ended: int
    """How many there were."""
