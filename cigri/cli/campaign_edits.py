"""`gridsub -c ID`: more tasks for a campaign that is there."""

import argparse
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from cigri.api_models.files import RefreshedInputs
from cigri.cli.campaign_names import campaign_ids
from cigri.cli.command import DONE, LONGEST_ID, CommandParser, print_error, print_json, told_even_if_lost
from cigri.cli.description_source import DescriptionSource
from cigri.cli.grid_client import open_grid
from cigri.endpoints.campaign_changes import resubmit_tasks, set_priority
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.descriptions import description
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.submissions import add_tasks as asked_to_add
from cigri.errors import CigriError, DescriptionError, NotFound, UsageError
from cigri.formats.json_values import to_json_value
from cigri.formats.priority import HOW_PRIORITY, MOST_PRIORITY

if TYPE_CHECKING:
    from cigri.flow.tasks import TaskRange


def add_tasks(sources: Sequence[DescriptionSource], options: argparse.Namespace) -> int:
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


def _send_files(grid: GridClient, campaign_id: int, parameters: Sequence[object], base: Path) -> str:
    """Those that the tasks take along, if they do: the sum of their list."""
    written = grid.call(description, campaign_id=campaign_id).described
    wanted = next((value for key, value in written.items() if key.lower() == "task_inputs" and value), None)
    if wanted is None:
        return ""
    from cigri.cli.sending_inputs import send_inputs
    from cigri.inputs.task_files import read_files
    from cigri.jdl.parameters import parse_items

    named = [{"from": file["path"], "to": file["to"]} for file in wanted["files"]]
    first = grid.call(campaign, campaign_id=campaign_id).campaign.total
    read = read_files(named, parse_items(parameters, []), first, base)
    send_inputs(grid, [*read.files, read.sums])
    return read.sums.sha256


def _checked(grid: GridClient, sources: Sequence[DescriptionSource], campaign_id: int) -> list[list[object]]:
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


# `gridsub -c ID --priority N`: where a campaign stands among those of its owner.


def read_priority(word: str) -> int:
    """A word of the command line; UsageError where it is none."""
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", word) or abs(int(word)) > MOST_PRIORITY:
        raise UsageError(f"--priority {word}: expected {HOW_PRIORITY}, higher goes first among yours")
    return int(word)


def change_priority(campaign_id: int, priority: int, output: str) -> None:
    """From now on; what `gridsub` prints of it."""
    with open_grid() as grid:
        changed = grid.call(set_priority, campaign_id=campaign_id, priority=priority)
    if output == "json":
        print_json(to_json_value(changed))
    else:
        print(f"Campaign {changed.id} has priority {changed.priority} among yours")


# `gridsub --resubmit`: failed tasks of a campaign are done again, also when their failure was accepted before.
#
# Those that their user has cancelled are only done again when that is said.


def add_options(parser: CommandParser) -> None:
    """`--resubmit` and what says which tasks, of which at most one may be given."""
    parser.add_argument(
        "--resubmit", type=campaign_ids, metavar="ID", help="do failed tasks of this campaign again, all of them"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--failed", action="store_true", help="with --resubmit: all that failed, as without it")
    which.add_argument("--cancelled", action="store_true", help="with --resubmit: all that `griddel -j` has cancelled")
    which.add_argument(
        "--tasks", type=_spans, metavar="N", help="with --resubmit: these, failed or cancelled: 3, or 3,5, or 3,7-9"
    )


def add_amount_options(parser: CommandParser) -> None:
    """More for tasks that were ended because it was too little."""
    parser.add_argument("--mem", metavar="SIZE", help="with --resubmit: these tasks have so much memory, as 2GB")
    parser.add_argument("--walltime", metavar="TIME", help="with --resubmit: these tasks have so much time, as 2h")


def add_input_options(parser: CommandParser) -> None:
    """What sends files of the description anew."""
    parser.add_argument(
        "--refresh-inputs", action="store_true",
        help="with --resubmit or -c: send inputs that have changed, for all that is still to be done",
    )  # fmt: skip
    parser.add_argument(
        "--input", dest="new_inputs", action="append", metavar="[NAME=]FILE",
        help="with -c: send this file anew, for all that is still to be done; NAME is what tasks call it",
    )  # fmt: skip


def change_inputs(campaign_id: int, options: argparse.Namespace) -> None:
    """`-c ID --input FILE` and `-c ID --refresh-inputs`: what is printed of it."""
    from cigri.cli.changed_inputs import refresh, replace_named, tell_refreshed

    with open_grid() as grid:
        if options.new_inputs:
            replaced = replace_named(grid, campaign_id, options.new_inputs)
        else:
            replaced = refresh(grid, campaign_id)
    if options.output == "json":
        print_json(to_json_value(replaced or RefreshedInputs(campaign_id, 0, 0, 0)))
    else:
        tell_refreshed(campaign_id, replaced)


def check(parser: CommandParser, options: argparse.Namespace) -> None:
    """Options that do not go together."""
    if options.new_inputs and options.refresh_inputs:
        parser.error("--input names what is sent anew, and --refresh-inputs sends all that has changed: give one")
    if options.new_inputs and (options.campaign is None or options.resubmit):
        parser.error("--input sends a file of a campaign anew: say which with -c ID")
    if options.refresh_inputs and options.campaign is None and options.resubmit is None:
        parser.error("--refresh-inputs is about a campaign that is there: give it with --resubmit ID or -c ID")
    if options.resubmit is None:
        if options.mem or options.walltime:
            parser.error("--mem and --walltime are for tasks that are done again: give the campaign with --resubmit ID")
        if options.failed or options.cancelled or options.tasks:
            which = "--failed, --cancelled and --tasks"
            parser.error(f"{which} say which tasks to do again: give the campaign with --resubmit ID")
        return
    if len(options.resubmit) != 1:
        parser.error("--resubmit takes one campaign")
    others = ("files", "sources", "more", "campaign", "type", "backend", "after", "local", "check", "simulate")
    if options.priority is not None or options.details or any(getattr(options, name) for name in others):
        beside = "--failed, --cancelled, --tasks, --mem, --walltime, --refresh-inputs or --output"
        parser.error(f"--resubmit stands alone, with {beside} only")


def resubmit(options: argparse.Namespace) -> int:
    """Say how many tasks wait again."""
    from cigri.cli.changed_inputs import find_changed, send_changed, tell_refreshed, warn_of_changed
    from cigri.cli.changed_task_files import find_changed_task_files, warn_of_changed_task_files

    [campaign_id] = options.resubmit
    changed: list[str] = []
    with open_grid() as grid:
        if options.refresh_inputs:
            inputs = send_changed(grid, campaign_id)
        else:
            with suppress(NotFound):  # what is wrong with the campaign is told below
                changed = [each.path for each in find_changed(grid, campaign_id).changed]
            inputs = []
            warn_of_changed(changed)
        with suppress(NotFound):
            changed_files = find_changed_task_files(grid, campaign_id)
            warn_of_changed_task_files(changed_files)
            changed += changed_files
        redone = grid.call(
            resubmit_tasks,
            campaign_id=campaign_id,
            tasks=options.tasks,
            cancelled=options.cancelled,
            inputs=inputs,
            mem=options.mem or "",
            walltime=options.walltime or "",
        )
    number = redone.resubmitted
    if options.output == "json":
        told = {name: value for name, value in to_json_value(redone).items() if value is not None}
        print_json(told | ({"changed_inputs": changed} if changed else {}))
        return DONE
    if options.refresh_inputs:
        tell_refreshed(campaign_id, redone.inputs)
    if number:
        what = "" if options.tasks else "cancelled " if options.cancelled else "failed "
        more = [f"{name} {text}" for name, text in (("mem", options.mem), ("walltime", options.walltime)) if text]
        having = f" with {' and '.join(more)}" if more else ""
        print(f"{number} {what}task{'s' if number > 1 else ''} of campaign {campaign_id} will be done again{having}")
    else:
        done = "was cancelled" if options.cancelled else "has failed"
        print_error(f"no task of campaign {campaign_id} {done}: nothing is to be done again")
    return DONE


def _spans(text: str) -> "list[TaskRange]":
    """Numbers of tasks as typed, in order and without what is said twice."""
    typed: list[TaskRange] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_number(first) or (dash and not _is_number(last)) or int(last or first) < int(first):
            raise argparse.ArgumentTypeError(f"{part.strip()!r} is no task; write 3, or 3,5, or 3,7-9")
        typed.append((int(first), int(last or first)))
    spans: list[TaskRange] = []
    for first_task, last_task in sorted(typed):
        if spans and first_task <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], last_task)
        else:
            spans.append((first_task, last_task))
    return spans


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID
