"""`gridsub --resubmit`: failed tasks of a campaign are done again, also when their failure was accepted before.

Those that their user has cancelled are only done again when that is said.
"""

import argparse
from typing import TYPE_CHECKING

from cigri.cli.command import DONE, LONGEST_ID, Parser, complain, ids, print_json
from cigri.cli.grid_client import open_grid
from cigri.endpoints.campaign_changes import resubmit_tasks
from cigri.formats.json_values import plain

if TYPE_CHECKING:
    from cigri.flow.tasks import Span


def add_options(parser: Parser) -> None:
    """`--resubmit` and what says which tasks, of which at most one may be given."""
    parser.add_argument(
        "--resubmit", type=ids, metavar="ID", help="do failed tasks of this campaign again, all of them"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--failed", action="store_true", help="with --resubmit: all that failed, as without it")
    which.add_argument("--cancelled", action="store_true", help="with --resubmit: all that `griddel -j` has cancelled")
    which.add_argument(
        "--tasks", type=_spans, metavar="N", help="with --resubmit: these, failed or cancelled: 3, or 3,5, or 3,7-9"
    )


def check(parser: Parser, options: argparse.Namespace) -> None:
    """Options that do not go together."""
    if options.resubmit is None:
        if options.failed or options.cancelled or options.tasks:
            which = "--failed, --cancelled and --tasks"
            parser.error(f"{which} say which tasks to do again: give the campaign with --resubmit ID")
        return
    if len(options.resubmit) != 1:
        parser.error("--resubmit takes one campaign")
    others = ("files", "sources", "more", "campaign", "type", "backend", "after", "local", "check", "simulate")
    if options.priority is not None or options.details or any(getattr(options, name) for name in others):
        parser.error("--resubmit stands alone, with --failed, --cancelled, --tasks or --output only")


def resubmit(options: argparse.Namespace) -> int:
    """Say how many tasks wait again."""
    [campaign_id] = options.resubmit
    with open_grid() as grid:
        redone = grid.ask(resubmit_tasks, campaign_id=campaign_id, tasks=options.tasks, cancelled=options.cancelled)
    number = redone.resubmitted
    if options.output == "json":
        print_json(plain(redone))
    elif number:
        what = "" if options.tasks else "cancelled " if options.cancelled else "failed "
        print(f"{number} {what}task{'s' if number > 1 else ''} of campaign {campaign_id} will be done again")
    else:
        done = "was cancelled" if options.cancelled else "has failed"
        complain(f"no task of campaign {campaign_id} {done}: nothing is to be done again")
    return DONE


def _spans(text: str) -> "list[Span]":
    """Numbers of tasks as typed, in order and without what is said twice."""
    typed: list[Span] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_number(first) or (dash and not _is_number(last)) or int(last or first) < int(first):
            raise argparse.ArgumentTypeError(f"{part.strip()!r} is no task; write 3, or 3,5, or 3,7-9")
        typed.append((int(first), int(last or first)))
    spans: list[Span] = []
    for first_task, last_task in sorted(typed):
        if spans and first_task <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], last_task)
        else:
            spans.append((first_task, last_task))
    return spans


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID
