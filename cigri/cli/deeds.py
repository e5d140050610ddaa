"""What commands do to campaigns and jobs: a transaction for each id, and a word on what became of it."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cigri.cli.command import DONE, FAILED, Parser, complain, grid_user, ids, open_database, print_json, safe
from cigri.errors import CigriError, DatabaseUnavailable

if TYPE_CHECKING:
    from argparse import Namespace

    from sqlalchemy import Connection


class Deed(NamedTuple):
    """What was asked of one campaign or job, and what came of it; `details` is told to those who ask for more."""

    id: int
    done: bool
    message: str
    details: str = ""


Act = Callable[["Connection", int, str], Deed]


def add_targets(parser: Parser, what: str) -> None:
    """Campaigns, as words or with -c, or jobs with -j; and how the answer is given."""
    parser.add_argument("campaigns", nargs="*", type=ids, metavar="ID", help="campaigns: 3, or 3,5, or 3-7")
    parser.add_argument("-c", "--campaign", action="append", type=ids, metavar="ID", default=[], help="the same")
    parser.add_argument(
        "-j", "--job", action="append", type=ids, metavar="ID", default=[], help=f"{what} this job instead"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is left of each campaign, too")
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def targets(parser: Parser, options: "Namespace") -> tuple[list[int], list[int]]:
    """Campaigns or jobs, one of the lists empty."""
    campaigns = [id for group in [*options.campaigns, *options.campaign] for id in group]
    jobs = [id for group in options.job for id in group]
    if campaigns and jobs:
        parser.error("give campaigns or jobs (-j), not both")
    if not campaigns and not jobs:
        parser.error("which campaign? give its number; `gridstat` lists yours")
    return list(dict.fromkeys(campaigns)), list(dict.fromkeys(jobs))


def carry_out(act: Act, wanted: Sequence[int], options: "Namespace") -> int:
    """One transaction per id: what cannot be done to one does not stop the others."""
    user = grid_user()
    deeds = []
    with open_database() as database:
        for id in wanted:
            try:
                with database.begin() as conn:
                    deed = act(conn, id, user)
            except DatabaseUnavailable:
                raise
            except CigriError as error:
                deed = Deed(id, False, str(error))
            deeds.append(deed)
            if not options.json:
                _tell(deed, options.verbose)
    if options.json:
        print_json([deed._asdict() for deed in deeds])
    return DONE if all(deed.done for deed in deeds) else FAILED


def left(conn: "Connection", campaign_id: int) -> str:
    """What is left of a campaign, for those who ask for more."""
    from cigri.flow.stops import count_left

    tasks, jobs = count_left(conn, campaign_id)
    counts = [f"{number} {state}" for state, number in tasks.items()]
    return f"tasks: {', '.join(counts) or 'none'}; jobs that have not ended: {jobs}"


def _tell(deed: Deed, verbose: bool) -> None:
    if not deed.done:
        complain(deed.message)
        return
    print(safe(deed.message))
    if verbose and deed.details:
        print(f"  {safe(deed.details)}")
    sys.stdout.flush()
