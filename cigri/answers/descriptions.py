"""Campaigns as their users described them."""

from typing import Any, NamedTuple


class WrittenDescription(NamedTuple):
    """What `gridsub` takes, but for the parameters where `has_list`: there may be millions, and they are asked for."""

    described: dict[str, Any]
    has_list: bool
