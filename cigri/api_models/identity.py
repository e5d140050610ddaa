"""Who somebody is, as the grid sees it."""

from datetime import datetime
from typing import NamedTuple

from cigri.identity.callers import AccessScope


class CallerView(NamedTuple):
    """Who you are."""

    user: str
    """Your name on the grid."""
    is_operator: bool
    """Whether you may do what operators may."""
    scope: AccessScope
    """The most that may be done this way."""
    how: str
    """How this is known: `kernel`, `proxy`, or by which token or session."""


# Sessions of browsers.


class SignInLink(NamedTuple):
    """A link that was just made."""

    url: str
    """What a browser opens, which is told here only."""
    id: int
    """The number of the session that it begins."""
    user: str
    """Whose it is."""
    scope: AccessScope
    """The most that may be done in it."""
    opens_until: datetime
    """Until when the link opens it, once."""
    expires_at: datetime
    """When the session ends."""


class EndedSessions(NamedTuple):
    """Sessions that are over now."""

    ended: int
    """How many there were."""


# Tokens as their owners see them.


class TokenView(NamedTuple):
    """A token as its owner sees it."""

    id: int
    """The token's number."""
    user: str
    """Whose it is."""
    comment: str
    """What it is for."""
    scope: AccessScope
    """The most that may be done with it."""
    created_at: datetime
    """When it was made."""
    expires_at: datetime
    """Until when it is valid."""
    last_used_at: datetime | None
    """When it was last used, right to a minute."""
    revoked_at: datetime | None
    """When it was revoked."""
    is_valid: bool
    """Whether it is neither revoked nor expired."""
    ssh_key_id: int | None
    """The SSH key by whose signature it was made; null: the kernel or a proxy said whose it is."""


class CreatedToken(NamedTuple):
    """A token that was just made."""

    token: str
    """Its text, which is told here only."""
    id: int
    """The token's number."""
    user: str
    """Whose it is."""
    comment: str
    """What it is for."""
    scope: AccessScope
    """The most that may be done with it."""
    expires_at: datetime
    """Until when it is valid."""
