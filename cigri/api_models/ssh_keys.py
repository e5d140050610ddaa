"""SSH keys as their owners see them, and the challenges that they sign."""

from datetime import datetime
from typing import NamedTuple


class SshKeyView(NamedTuple):
    """An SSH key that is, or was, registered."""

    id: int
    """The key's number."""
    user: str
    """Whose it is."""
    fingerprint: str
    """As `ssh-keygen -l` shows it."""
    comment: str
    """What its file calls it."""
    created_at: datetime
    """When it was registered."""
    removed_at: datetime | None
    """When it was removed, with the tokens that it had given."""


class IssuedChallenge(NamedTuple):
    """What is to be signed."""

    nonce: str
    """By which the answer names it."""
    grid: str
    """The key of the grid, which stands in the text."""
    text: str
    """All that is signed, each line with its end."""
    expires_at: datetime
    """Until when it is answered, once."""
