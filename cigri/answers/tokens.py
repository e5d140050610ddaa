"""Tokens as their owners see them."""

from datetime import datetime
from typing import NamedTuple

from cigri.identity.callers import Scope


class TokenView(NamedTuple):
    """A token as its owner sees it."""

    id: int
    """The token's number."""
    user: str
    """Whose it is."""
    comment: str
    """What it is for."""
    scope: Scope
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


class MintedToken(NamedTuple):
    """A token that was just made."""

    token: str
    """Its text, which is told here only."""
    id: int
    """The token's number."""
    user: str
    """Whose it is."""
    comment: str
    """What it is for."""
    scope: Scope
    """The most that may be done with it."""
    expires_at: datetime
    """Until when it is valid."""
