"""gridevents: what went wrong in campaigns and on clusters; say that it is fixed, have failed tasks done again."""

import argparse
from collections.abc import Sequence
from itertools import starmap
from typing import Any

from cigri.api_models.events import EventView
from cigri.cli.campaign_names import OF_CAMPAIGNS, campaign_ids
from cigri.cli.command import DONE, FAILED, CommandParser, command, escape_text, ids, print_error, print_json
from cigri.cli.grid_client import open_grid
from cigri.endpoints.audit import audit_trail
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.events import event_counts, events, fix_events
from cigri.endpoints.paging import walk
from cigri.formats.id_ranges import format_ids
from cigri.formats.json_values import to_json_value

EVENTS_SHOWN = 100
LONGEST_PARAMETER = 120
AUDIT_COLUMNS = ("When", "Who", "Known by", "Did", "Asked")
EXAMPLES = """\
  gridevents                     open events of all your campaigns
  gridevents 12                  those of campaign 12; --all shows the closed ones too
  gridevents 12 --fix            you have dealt with them: close them
  gridevents 12 --fix --resubmit close them, and do the failed tasks again
  gridevents -e 345 --fix        close one event
  gridevents --global            what concerns clusters and the grid itself
  gridevents --audit             who changed what, for operators"""


@command
def main(argv: list[str]) -> int:
    """List, or fix."""
    parser = _parser()
    options = parser.parse_args(argv)
    _check(parser, options)
    which = {
        "campaigns": format_ids(_together(options.campaigns, options.campaign)),
        "ids": format_ids(_together(options.event)),
        "is_global": options.is_global,
    }
    with open_grid() as grid:
        if options.audit:
            return _audit(grid, options)
        return _fix(grid, which, options) if options.fix else _list(grid, which, options)


def _together(*groups: list[list[int]]) -> set[int]:
    return {id for group in groups for ids in group for id in ids}


def _parser() -> CommandParser:
    parser = CommandParser("gridevents", "Show what went wrong, and say that it is fixed.", EXAMPLES)
    parser.add_argument("campaigns", nargs="*", type=campaign_ids, metavar="ID", help=OF_CAMPAIGNS)
    parser.add_argument(
        "-c", "--campaign", action="append", type=campaign_ids, metavar="ID", default=[], help="the same"
    )
    parser.add_argument("-g", "--global", action="store_true", dest="is_global", help="events of clusters and the grid")
    parser.add_argument("-e", "--event", action="append", type=ids, metavar="ID", default=[], help="only this event")
    parser.add_argument("-f", "--fix", action="store_true", help="close them")
    parser.add_argument("-r", "--resubmit", action="store_true", help="with --fix: do the failed tasks again")
    parser.add_argument("-a", "--all", action="store_true", help="show closed events too")
    parser.add_argument(
        "-n", "--limit", type=_limit, metavar="N", help=f"the last N events; 0: all (usually {EVENTS_SHOWN} entries)"
    )
    parser.add_argument("--audit", action="store_true", help="who changed what, for operators: the last N changes")
    parser.add_argument("--json", action="store_true", help="answer in JSON, all events")
    return parser


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of events")
    return int(text)


def _check(parser: CommandParser, options: argparse.Namespace) -> None:
    campaigns = options.campaigns or options.campaign
    if options.audit and (campaigns or options.event or options.is_global or options.fix or options.all):
        parser.error("--audit stands alone, with -n or --json")
    if options.resubmit and not options.fix:
        parser.error("--resubmit goes with --fix")
    if options.resubmit and options.is_global:
        parser.error("events of clusters have no tasks to resubmit")
    if options.is_global and campaigns:
        parser.error("--global events belong to no campaign: leave out the campaign")
    if options.fix and options.all:
        parser.error("closed events need no fix: leave out --all")
    if options.fix and not (campaigns or options.event or options.is_global):
        parser.error("fix what? give a campaign, or an event with -e")


def _list(grid: GridClient, which: dict[str, Any], options: argparse.Namespace) -> int:
    from cigri.cli.failures import MOST_READ
    from cigri.presentation.gathered_failures import gathered_text, group_events

    which = which | {"with_closed": options.all}
    if options.json:
        print_json(to_json_value(walk(grid, events, options.limit or None, **which)))
        return DONE
    told = walk(grid, events, MOST_READ if options.limit is None else options.limit or None, **which)
    entries = group_events(told)
    entries = entries[-EVENTS_SHOWN:] if options.limit is None else entries
    for together in entries:
        print(escape_text(_written(together[0]) if len(together) == 1 else gathered_text(together)))
    counts = grid.call(event_counts, **which)
    if options.limit != 0 and (older := counts.chosen - sum(map(len, entries))) > 0:
        print_error(f"{older} older events are not shown: `--limit 0` shows all")
    if not told:
        print_error(_nothing(options, counts.open_global))
    _advise(told, options)
    return DONE


def _audit(grid: GridClient, options: argparse.Namespace) -> int:
    changes = walk(grid, audit_trail, EVENTS_SHOWN if options.limit is None else options.limit or None)
    if options.json:
        print_json(to_json_value(changes))
    else:
        from cigri.cli.table_printing import print_table
        from cigri.presentation.formatting import format_time, parameter_words

        rows = [(format_time(one.at), one.user, one.how, one.endpoint, parameter_words(one.asked)) for one in changes]
        print_table(AUDIT_COLUMNS, rows, prose=("Asked",))
    return DONE


def _nothing(options: argparse.Namespace, elsewhere: int) -> str:
    """So that nobody whose tasks wait for a cluster that is away looks in the wrong place."""
    if options.all or options.event:
        return "there is no event"
    if options.is_global or not elsewhere:
        return "there is no open event"
    return f"there is no open event of your campaigns; clusters and the grid have {elsewhere}: `gridevents --global`"


def _written(event: EventView) -> str:
    """Two or more lines: what, where and when; then the message, indented."""
    from cigri.formats.units import localised
    from cigri.presentation.exit_codes import explain
    from cigri.presentation.formatting import format_time, parameter_words, shortened

    state = "closed" if event.closed_at else "open"
    subjects = [f"campaign {event.campaign_id}"] if event.campaign_id else []
    if event.task is not None:
        parameter = shortened(parameter_words(event.parameter), LONGEST_PARAMETER)
        subjects.append(f"task {event.task} ({parameter})")
    subjects += [f"job {event.job_id}"] if event.job_id else []
    head = f"{event.id}: ({state}) {event.code} of {', '.join(subjects) or event.subject}"
    head += f" on {event.cluster}" if event.cluster else ""
    head += f" at {format_time(event.last_at)}"
    head += f", {event.times} times" if event.times > 1 else ""
    head += f", closed by {event.closed_by}" if event.closed_by else ""
    means = explain(event.exit_code)
    details = [*localised(event.message).splitlines(), *([f"exit code {event.exit_code}: {means}"] if means else [])]
    return "\n".join([head, *(f"    {line}" for line in details)])


def _advise(told: Sequence[EventView], options: argparse.Namespace) -> None:
    is_open = [event for event in told if event.closed_at is None]
    if options.is_global or not is_open:
        return
    named = sorted({event.campaign_id for event in is_open if event.campaign_id is not None})
    which = f"-c {','.join(map(str, named))}" if not options.event else f"-e {is_open[0].id}"
    print_error(f"`gridevents {which} --fix` closes them; with --resubmit the failed tasks are done again")


def _fix(grid: GridClient, which: dict[str, Any], options: argparse.Namespace) -> int:
    answer = grid.call(fix_events, **which, resubmit=options.resubmit)
    if options.json:
        print_json(to_json_value(answer))
    elif answer.fixed:
        number = f"{answer.fixed} event{'s are' if answer.fixed > 1 else ' is'}"
        print(f"{number} closed{', failed tasks wait again' * options.resubmit}")
    else:
        failed = answer.failed_before
        print_error("nothing to fix: no open event" + "".join(starmap(_accepted, failed.items())))
        return FAILED if failed else DONE
    return DONE


def _accepted(campaign_id: int, failed: int) -> str:
    tasks = f"{failed} failed task{'s' if failed > 1 else ''} of campaign {campaign_id}"
    return f"\n`gridsub --resubmit {campaign_id}` does {tasks} again, whose events were closed before"
