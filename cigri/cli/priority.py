"""`gridsub -c ID --priority N`: where a campaign stands among those of its owner."""

import re

from cigri.cli.command import print_json
from cigri.cli.grid_client import open_grid
from cigri.endpoints.campaign_changes import set_priority
from cigri.errors import UsageError
from cigri.formats.json_values import plain
from cigri.formats.priority import HOW_PRIORITY, MOST_PRIORITY


def read_priority(word: str) -> int:
    """A word of the command line; UsageError where it is none."""
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", word) or abs(int(word)) > MOST_PRIORITY:
        raise UsageError(f"--priority {word}: expected {HOW_PRIORITY}, higher goes first among yours")
    return int(word)


def change_priority(campaign_id: int, priority: int, output: str) -> None:
    """From now on; what `gridsub` prints of it."""
    with open_grid() as grid:
        changed = grid.ask(set_priority, campaign_id=campaign_id, priority=priority)
    if output == "json":
        print_json(plain(changed))
    else:
        print(f"Campaign {changed.id} has priority {changed.priority} among yours")
