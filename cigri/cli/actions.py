"""What commands do to campaigns and jobs: a transaction for each id, and a word on what became of it."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cigri.api_models.changes import ActionResult
from cigri.cli.campaign_names import OF_CAMPAIGNS, campaign_ids
from cigri.cli.command import DONE, FAILED, CommandParser, escape_text, ids, print_error, print_json
from cigri.cli.grid_client import open_grid
from cigri.endpoints.dispatch import GridClient
from cigri.errors import CigriError, DatabaseUnavailable, PortalUnavailable
from cigri.formats.json_values import to_json_value

if TYPE_CHECKING:
    from argparse import Namespace


Action = Callable[[GridClient, int], ActionResult]


def add_targets(parser: CommandParser, verb: str) -> None:
    """Campaigns, as words or with -c, or jobs with -j; and how the answer is given. `verb`: what is done to jobs."""
    parser.add_argument("campaigns", nargs="*", type=campaign_ids, metavar="ID", help=OF_CAMPAIGNS)
    parser.add_argument(
        "-c", "--campaign", action="append", type=campaign_ids, metavar="ID", default=[], help="the same"
    )
    parser.add_argument(
        "-j", "--job", action="append", type=ids, metavar="ID", default=[], help=f"{verb} this job instead"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is left of each campaign, too")
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def targets(parser: CommandParser, options: "Namespace") -> tuple[list[int], list[int]]:
    """Ids of campaigns and of jobs, as typed and each once; one of the lists is empty."""
    campaigns = [id for group in [*options.campaigns, *options.campaign] for id in group]
    jobs = [id for group in options.job for id in group]
    if campaigns and jobs:
        parser.error("give campaigns or jobs (-j), not both")
    if not campaigns and not jobs:
        parser.error("which campaign? give its number; `gridstat` lists yours")
    return list(dict.fromkeys(campaigns)), list(dict.fromkeys(jobs))


def carry_out(act: Action, wanted: Sequence[int], options: "Namespace") -> int:
    """One transaction per id: what cannot be done to one does not stop the others. Gives the exit status."""
    results = []
    with open_grid() as grid:
        for id in wanted:
            try:
                result = act(grid, id)
            except (DatabaseUnavailable, PortalUnavailable):
                raise
            except CigriError as error:
                result = ActionResult(id, False, str(error))
            results.append(result)
            if not options.json:
                _tell(result, options.verbose)
    if options.json:
        print_json(to_json_value(results))
    return DONE if all(result.done for result in results) else FAILED


def _tell(result: ActionResult, verbose: bool) -> None:
    if not result.done:
        print_error(result.message)
        return
    print(escape_text(result.message))
    if verbose and result.details:
        print(f"  {escape_text(result.details)}")
    sys.stdout.flush()
