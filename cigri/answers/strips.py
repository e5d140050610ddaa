"""A campaign's tasks in a strip of cells, few enough to be seen at once."""

from typing import NamedTuple

from cigri.states import TaskState

MOST_CELLS = 1000
"""Of a strip."""


class StripCell(NamedTuple):
    """Tasks that follow each other."""

    first: int
    """The number of the first of them."""
    last: int
    """The number of the last of them."""
    worst: TaskState
    """The state of at least one of them: failed, else cancelled, waiting, assigned or done, the first that there is."""
