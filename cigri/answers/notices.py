"""Whether the grid is at work for somebody's campaigns."""

from datetime import datetime
from typing import NamedTuple


class Notices(NamedTuple):
    """What stands still."""

    now: datetime
    """The grid's time, by which all others are to be read."""
    sentences: list[str]
    """A sentence for each thing that stands still."""
