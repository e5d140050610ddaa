"""Campaigns as their users described them."""

from typing import Any, NamedTuple


class WrittenDescription(NamedTuple):
    """A description as it was written; there may be millions of parameters."""

    described: dict[str, Any]
    """What `gridsub` takes."""
    has_list: bool
    """Whether its parameters are left out, and are asked for by themselves."""
