"""Whether the grid is at work for somebody's campaigns."""

from datetime import datetime
from typing import NamedTuple


class Notices(NamedTuple):
    """`now`: the grid's time, by which all others are to be read; a sentence for each thing that stands still."""

    now: datetime
    sentences: list[str]
