"""gridevents: what went wrong in campaigns and on clusters; say that it is fixed, have failed tasks done again."""

import argparse
import os
from itertools import starmap
from typing import TYPE_CHECKING

from cigri.cli.command import DONE, FAILED, Parser, command, complain, grid_user, ids, open_database, print_json, safe
from cigri.errors import CigriError, NotFound

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cigri.flow.views.events import EventChoice, SeenEvent

EVENTS_SHOWN = 100
LONGEST_PARAMETER = 120
EXAMPLES = """\
  gridevents                     open events of all your campaigns
  gridevents 12                  those of campaign 12; --all shows the closed ones too
  gridevents 12 --fix            you have dealt with them: close them
  gridevents 12 --fix --resubmit close them, and do the failed tasks again
  gridevents -e 345 --fix        close one event
  gridevents --global            what concerns clusters and the grid itself"""


@command
def main(argv: list[str]) -> int:
    """List, or fix."""
    from cigri.flow.views.events import EventChoice

    parser = _parser()
    options = parser.parse_args(argv)
    _check(parser, options)
    choice = EventChoice(
        grid_user(),
        [id for group in [*options.campaigns, *options.campaign] for id in group],
        [id for group in options.event for id in group],
        options.is_global,
        options.all,
    )
    with open_database() as database:
        with database.begin() as conn:
            _require(conn, choice)
            if options.fix:
                return _fix(conn, choice, options)
            return _list(conn, choice, options)


def _parser() -> Parser:
    parser = Parser("gridevents", "Show what went wrong, and say that it is fixed.", EXAMPLES)
    parser.add_argument("campaigns", nargs="*", type=ids, metavar="ID", help="campaigns: 3, or 3,5, or 3-7")
    parser.add_argument("-c", "--campaign", action="append", type=ids, metavar="ID", default=[], help="the same")
    parser.add_argument("-g", "--global", action="store_true", dest="is_global", help="events of clusters and the grid")
    parser.add_argument("-e", "--event", action="append", type=ids, metavar="ID", default=[], help="only this event")
    parser.add_argument("-f", "--fix", action="store_true", help="close them")
    parser.add_argument("-r", "--resubmit", action="store_true", help="with --fix: do the failed tasks again")
    parser.add_argument("-a", "--all", action="store_true", help="show closed events too")
    parser.add_argument(
        "-n", "--limit", type=_limit, metavar="N", help=f"the last N events; 0: all (usually {EVENTS_SHOWN} entries)"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON, all events")
    return parser


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of events")
    return int(text)


def _check(parser: Parser, options: argparse.Namespace) -> None:
    campaigns = options.campaigns or options.campaign
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


def _require(conn: "Connection", choice: "EventChoice") -> None:
    """What was named must be there, or it is a complaint, not an empty list."""
    from cigri.flow.views.events import count_events, require_own

    require_own(conn, choice.campaign_ids, choice.user)
    for id in choice.event_ids:
        if not count_events(conn, choice._replace(event_ids=[id], closed_too=True)):
            where = "it is no event of the grid" if choice.is_global else "you have no such event"
            raise NotFound(f"event {id}: {where}; `gridevents{' --global' if choice.is_global else ''}` lists them")


def _list(conn: "Connection", choice: "EventChoice", options: argparse.Namespace) -> int:
    from cigri.cli.failures import MOST_READ, gather, gathered_text
    from cigri.flow.views.events import EventChoice, count_events, list_events

    choice = choice._replace(closed_too=options.all or bool(choice.event_ids))
    if options.json:
        print_json([event._asdict() for event in list_events(conn, choice, options.limit or None)])
        return DONE
    events = list_events(conn, choice, MOST_READ if options.limit is None else options.limit or None)
    entries = gather(events)
    entries = entries[-EVENTS_SHOWN:] if options.limit is None else entries
    for together in entries:
        print(safe(_written(together[0]) if len(together) == 1 else gathered_text(together)))
    shown = sum(map(len, entries))
    if options.limit != 0 and (older := count_events(conn, choice) - shown):
        complain(f"{older} older events are not shown: `--limit 0` shows all")
    if not events:
        complain(_nothing(choice, 0 if choice.is_global else count_events(conn, EventChoice("", is_global=True))))
    _advise(events, choice)
    return DONE


def _nothing(choice: "EventChoice", elsewhere: int) -> str:
    """So that nobody whose tasks wait for a cluster that is away looks in the wrong place."""
    text = "there is no event" if choice.closed_too else "there is no open event"
    if not elsewhere or choice.closed_too:
        return text
    return f"{text} of your campaigns; clusters and the grid have {elsewhere}: `gridevents --global`"


def _written(event: "SeenEvent") -> str:
    """Two or more lines: what, where and when; then the message, indented."""
    from cigri.cli.wording import moment, parameter_words, shortened
    from cigri.text.exit_codes import explain

    state = "closed" if event.closed_at else "open"
    about = [f"campaign {event.campaign_id}"] if event.campaign_id else []
    if event.task is not None:
        parameter = shortened(parameter_words(event.parameter), LONGEST_PARAMETER)
        about.append(f"task {event.task} ({parameter})")
    about += [f"job {event.job_id}"] if event.job_id else []
    head = f"{event.id}: ({state}) {event.code} of {', '.join(about) or event.subject}"
    head += f" on {event.cluster}" if event.cluster else ""
    head += f" at {moment(event.last_at)}"
    head += f", {event.times} times" if event.times > 1 else ""
    head += f", closed by {event.closed_by}" if event.closed_by else ""
    means = explain(event.exit_code)
    said = [*event.message.splitlines(), *([f"exit code {event.exit_code}: {means}"] if means else [])]
    return "\n".join([head, *(f"    {line}" for line in said)])


def _advise(events: "list[SeenEvent]", choice: "EventChoice") -> None:
    is_open = [event for event in events if event.closed_at is None]
    if choice.is_global or not is_open:
        return
    named = sorted({event.campaign_id for event in is_open if event.campaign_id is not None})
    which = f"-c {','.join(map(str, named))}" if not choice.event_ids else f"-e {is_open[0].id}"
    complain(f"`gridevents {which} --fix` closes them; with --resubmit the failed tasks are done again")


def _fix(conn: "Connection", choice: "EventChoice", options: argparse.Namespace) -> int:
    from cigri.flow.fixes import fix_events, fix_global_events
    from cigri.flow.views.events import list_fixable
    from cigri.flow.views.failures import count_failed

    if choice.is_global:
        _require_operator(conn, choice.user)
    chosen = list_fixable(conn, choice)
    if choice.is_global:
        fixed = fix_global_events(conn, chosen, choice.user)
    else:
        fixed = fix_events(conn, chosen, choice.user, resubmit=options.resubmit)
    if options.json:
        print_json({"fixed": fixed})
    elif fixed:
        print(f"{fixed} event{'s are' if fixed > 1 else ' is'} closed{', failed tasks wait again' * options.resubmit}")
    else:
        failed = count_failed(conn, choice.campaign_ids) if options.resubmit else {}
        complain("nothing to fix: no open event" + "".join(starmap(_accepted, failed.items())))
        return FAILED if failed else DONE
    return DONE


def _accepted(campaign_id: int, failed: int) -> str:
    tasks = f"{failed} failed task{'s' if failed > 1 else ''} of campaign {campaign_id}"
    return f"\n`gridsub --resubmit {campaign_id}` does {tasks} again, whose events were closed before"


def _require_operator(conn: "Connection", user: str) -> None:
    """Root, the owner of the database, or whoever runs the embedded one."""
    from cigri.flow.views.events import database_owner
    from cigri.settings import loading

    chosen = loading.load()
    embedded = chosen.data_directory / "database"
    if not chosen.database.url and embedded.stat().st_uid == os.geteuid():
        return
    if user not in ("root", owner := database_owner(conn)):
        raise CigriError(f"events of clusters are fixed by the operator only (root or {owner}), you are {user}")
