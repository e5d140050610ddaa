"""`gridsub -c ID`: more tasks for a campaign that is there."""

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from cigri.cli.command import DONE, print_json, told_even_if_lost
from cigri.cli.description_source import Source
from cigri.cli.grid_client import open_grid
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.descriptions import description
from cigri.endpoints.dispatch import Grid
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
        together = list(chain(*parameters))
        files = _send_files(grid, campaign_id, together, sources[0].base)
        added = grid.send(asked_to_add, together, campaign_id=campaign_id, task_inputs=files).added
    with told_even_if_lost(lambda: f"added to campaign {campaign_id}: {added} tasks"):
        if options.output == "json":
            print_json({"id": campaign_id, "added": added})
        else:
            print(f"Jobs successfully added to campaign {campaign_id}: {added}")
    return DONE


def _send_files(grid: Grid, campaign_id: int, parameters: Sequence[object], base: Path) -> str:
    """Those that the tasks take along, if they do: the sum of their list."""
    written = grid.ask(description, campaign_id=campaign_id).described
    wanted = next((value for key, value in written.items() if key.lower() == "task_inputs" and value), None)
    if wanted is None:
        return ""
    from cigri.cli.sending_inputs import send_inputs
    from cigri.inputs.task_files import read_files
    from cigri.jdl.parameters import parse_items

    named = [{"from": file["path"], "to": file["to"]} for file in wanted["files"]]
    first = grid.ask(campaign, campaign_id=campaign_id).campaign.total
    read = read_files(named, parse_items(parameters, []), first, base)
    send_inputs(grid, [*read.files, read.sums])
    return read.sums.sha256


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
