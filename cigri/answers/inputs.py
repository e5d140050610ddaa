"""Inputs as they are sent to the grid."""

from typing import NamedTuple


class SentBytes(NamedTuple):
    """How much of an input the grid has from you."""

    sha256: str
    """The SHA-256 of its content."""
    held: int
    """Bytes of it that have come; the next ones are sent from there on."""
    is_stored: bool
    """Whether all have come, and are the right ones: campaigns may name it."""
