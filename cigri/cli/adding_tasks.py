"""`gridsub -c ID`: more tasks for a campaign that is there."""

import argparse
from collections.abc import Sequence
from itertools import chain

from cigri.cli.command import DONE, print_json, told_even_if_lost
from cigri.cli.grid import open_grid
from cigri.cli.source import Source
from cigri.endpoints.calling import Grid
from cigri.endpoints.submissions import add_tasks as asked_to_add
from cigri.errors import CigriError, DescriptionError


def add_tasks(sources: Sequence[Source], options: argparse.Namespace) -> int:
    """All tasks are checked, then added in one transaction."""
    campaign_id = options.campaign[0]
    with open_grid() as grid:
        parameters = _checked(grid, sources, campaign_id)
        if options.check:
            print(f"{sum(map(len, parameters))} tasks would be added to campaign {campaign_id}")
            return DONE
        added = grid.send(asked_to_add, list(chain(*parameters)), campaign_id=campaign_id).added
    with told_even_if_lost(lambda: f"added to campaign {campaign_id}: {added} tasks"):
        if options.output == "json":
            print_json({"id": campaign_id, "added": added})
        else:
            print(f"Jobs successfully added to campaign {campaign_id}: {added}")
    return DONE


def _checked(grid: Grid, sources: Sequence[Source], campaign_id: int) -> list[list[object]]:
    """The parameters of each source; raise with every problem of every source."""
    parameters: list[list[object]] = []
    faults: list[str] = []
    for source in sources:
        try:
            parameters.append(source.parameters())
            grid.send(asked_to_add, parameters[-1], campaign_id=campaign_id, check=True)
        except DescriptionError as error:
            faults += [f"{source.name}: {problem}" for problem in error.problems]
    if faults:
        raise CigriError("\n".join([*faults, "nothing was added"]))
    return parameters
