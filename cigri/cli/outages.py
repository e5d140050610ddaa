"""What users are told when something that should be at work for them is not."""

from collections.abc import Collection
from datetime import datetime

from cigri.cli.command import print_error
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.health import notices
from cigri.formats.id_ranges import format_ids
from cigri.formats.units import localised


def warn(grid: GridClient, ids: Collection[int] | None, user: str = "") -> datetime:
    """Complain of all that keeps these campaigns, None: all open ones, from going on; give the grid's time."""
    found = grid.call(notices, ids=format_ids(ids), user=user)
    for sentence in found.sentences:
        print_error(localised(sentence))
    return found.now
