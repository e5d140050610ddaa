"""Inputs as they are sent to the grid."""

from typing import NamedTuple


class LackedInputs(NamedTuple):
    """Inputs of which not all has come from you."""

    sums: list[str]
    """Their SHA-256 sums."""


class TakenInputs(NamedTuple):
    """What became of small inputs that were sent together."""

    taken: int
    """How many are stored: campaigns may name them."""
    wrong: list[str]
    """The sums of those whose bytes have another one, which are not."""


class SentBytes(NamedTuple):
    """How much of an input the grid has from you."""

    sha256: str
    """The SHA-256 of its content."""
    held: int
    """Bytes of it that have come; the next ones are sent from there on."""
    is_stored: bool
    """Whether all have come, and are the right ones: campaigns may name it."""
