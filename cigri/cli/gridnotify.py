"""gridnotify: be told what happens to your campaigns, by mail, by a command, or by a request to a web server."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence

from cigri.api_models.subscriptions import CreatedSubscription, SubscriptionView
from cigri.cli.campaign_names import campaign_ids
from cigri.cli.command import DONE, FAILED, CommandParser, command, print_error, print_json, told_even_if_lost
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.dispatch import GridClient
from cigri.endpoints.identity import whoami
from cigri.endpoints.paging import walk
from cigri.endpoints.subscriptions import (
    new_secret,
    subscribe,
    subscribe_to_campaign,
    subscribe_to_grid,
    subscriptions,
    unsubscribe,
)
from cigri.formats.json_values import to_json_value
from cigri.presentation.formatting import format_time
from cigri.states import NewsTag, Severity

SUBSCRIPTION_COLUMNS = ("id", "user", "of", "severity", "tags", "sent", "waiting", "failed", "last sent", "told")
EXAMPLES = """\
  gridnotify                                    who is told of what, and whether it gets there
  gridnotify --mail me@example.org              tell me of all my campaigns
  gridnotify -m me@example.org -s high          only of ends and failures; written again, it changes what was before
  gridnotify -c 12 '[END]mail:me@example.org'   of the end of campaign 12 only
  gridnotify --exec '/home/me/bin/told -v'      run this as me: with id, name, tag and comment behind its words
  gridnotify --webhook https://example.org/x    ask this, signed by a secret that is printed once
  gridnotify --unsubscribe 3                    tell subscription 3 nothing more"""


@command
def main(argv: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    addresses = _addresses(options)
    _check(parser, options, addresses)
    with open_grid() as grid:
        if options.secret is not None:
            return _new_secret(grid, options)
        if options.unsubscribe is not None:
            return _unsubscribe(grid, options, addresses)
        return _subscribe(grid, options, addresses) if addresses else _list(grid, options)


def _parser() -> CommandParser:
    parser = CommandParser("gridnotify", "Be told what happens to your campaigns.", EXAMPLES)
    parser.add_argument(
        "address", nargs="*", metavar="ADDRESS", help="as a description has it: [END,ERROR]mail:me@x.org"
    )
    parser.add_argument("-l", "--list", action="store_true", help="list your subscriptions, as without any option")
    parser.add_argument("-m", "--mail", action="append", metavar="ADDRESS", default=[], help="tell by mail")
    parser.add_argument(
        "-x", "--exec", action="append", metavar="COMMAND", default=[], help="run this on the grid's host"
    )
    parser.add_argument("-w", "--webhook", action="append", metavar="URL", default=[], help="send a POST there")
    parser.add_argument(
        "-c", "--campaign", action="append", type=campaign_ids, metavar="ID", default=[], help="of these only"
    )
    parser.add_argument(
        "-s",
        "--severity",
        choices=[str(severity) for severity in Severity],
        help="high: ends and failures; medium (usually): also what mends itself, begins, or stands still; low: all",
    )
    parser.add_argument("--operator", action="store_true", help="of clusters and the grid itself, for operators")
    parser.add_argument(
        "-u",
        "--unsubscribe",
        nargs="?",
        type=_number,
        const=0,
        metavar="ID",
        help="end this one, or that of an address",
    )
    parser.add_argument(
        "--secret", type=_number, metavar="ID", help="make a new secret of a webhook, and print it once"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    return parser


def _addresses(options: Namespace) -> list[str]:
    by_way = (("mail", options.mail), ("exec", options.exec), ("webhook", options.webhook))
    return [*options.address, *(f"{way}:{target}" for way, targets in by_way for target in targets)]


def _check(parser: CommandParser, options: Namespace, addresses: Sequence[str]) -> None:
    others = [options.list, options.unsubscribe is not None, options.secret is not None]
    if sum(others) > 1 or (addresses and (options.list or options.secret is not None)):
        parser.error("list, subscribe, unsubscribe or make a secret: one of them")
    if options.unsubscribe is not None and bool(options.unsubscribe) == bool(addresses):
        parser.error("--unsubscribe takes the number of a subscription, or an address")
    if (options.severity or options.campaign or options.operator) and not addresses:
        parser.error("whom to tell? for example --mail me@example.org")
    if options.campaign and options.operator:
        parser.error("--operator is about clusters and the grid, and about no campaign")


def _subscribe(grid: GridClient, options: Namespace, addresses: Sequence[str]) -> int:
    severity = Severity(options.severity) if options.severity else None
    made = [*_made(grid, options, addresses, severity)]
    if options.json:
        print_json(to_json_value(made))
        return DONE
    for each in made:
        view = each.subscription
        print(f"subscription {view.id}: {_address(view)} is told of {_subject(view)} ({_what(view)})")
        if each.secret:
            secret = each.secret
            with told_even_if_lost(lambda id=view.id: f"the secret was not shown; `gridnotify --secret {id}`"):  # type: ignore[misc]
                print(f"secret: {secret}")
            print_error(f"what subscription {view.id} sends is signed by this secret; it is not shown again")
    return DONE


def _made(
    grid: GridClient, options: Namespace, addresses: Sequence[str], severity: Severity | None
) -> Iterator[CreatedSubscription]:
    campaigns = sorted({id for ids in options.campaign for id in ids})
    for address in addresses:
        if options.operator:
            yield grid.call(subscribe_to_grid, address=address, severity=severity)
        elif not campaigns:
            yield grid.call(subscribe, address=address, severity=severity)
        for id in campaigns:
            yield grid.call(subscribe_to_campaign, campaign_id=id, address=address, severity=severity)


def _list(grid: GridClient, options: Namespace) -> int:
    told = walk(grid, subscriptions)
    if options.json:
        print_json(to_json_value(told))
        return DONE
    print_table(SUBSCRIPTION_COLUMNS, list(map(_row, told)), prose=("told", "tags"))
    for view in told:
        if view.error:
            print_error(f"subscription {view.id}: the last message did not get there: {view.error}")
    return DONE


def _unsubscribe(grid: GridClient, options: Namespace, addresses: Sequence[str]) -> int:
    numbers = [options.unsubscribe] if options.unsubscribe else [*_numbers(grid, options, addresses)]
    ended = [grid.call(unsubscribe, subscription_id=number) for number in numbers]
    if options.json:
        print_json(to_json_value(ended))
    else:
        for view in ended:
            print(f"subscription {view.id}: {_address(view)} is told nothing more of {_subject(view)}")
    if not ended:
        print_error("there is no such notification; list yours with `gridnotify`")
    return DONE if ended else FAILED


def _numbers(grid: GridClient, options: Namespace, addresses: Sequence[str]) -> Iterator[int]:
    """Of one's own with these addresses, of the campaigns that are named, or of all."""
    wanted = {address.rpartition("]")[2] if address.startswith("[") else address for address in addresses}
    campaigns = {id for ids in options.campaign for id in ids}
    user = grid.call(whoami).user
    for view in (view for view in walk(grid, subscriptions) if view.user == user):
        is_about = view.campaign_id in campaigns if campaigns else view.campaign_id is None
        if _address(view) in wanted and is_about and view.is_of_grid == options.operator:
            yield view.id


def _new_secret(grid: GridClient, options: Namespace) -> int:
    made = grid.call(new_secret, subscription_id=options.secret)
    with told_even_if_lost(lambda: f"the secret was not shown; `gridnotify --secret {made.id}` makes another"):
        print_json(to_json_value(made)) if options.json else print(made.secret)
    print_error(f"what subscription {made.id} sends is signed by this secret from now on; it is not shown again")
    return DONE


def _row(view: SubscriptionView) -> tuple[object, ...]:
    about = (view.id, view.user, _subject(view), view.severity, _tags(view))
    return (*about, view.sent, view.waiting, view.failed, format_time(view.last_sent_at), _address(view))


def _address(view: SubscriptionView) -> str:
    return f"{view.channel}:{view.target}"


def _subject(view: SubscriptionView) -> str:
    if view.is_of_grid:
        return "the grid"
    return f"campaign {view.campaign_id}" if view.campaign_id else "all campaigns"


def _tags(view: SubscriptionView) -> str:
    return "all" if len(view.tags) == len(NewsTag) else ",".join(view.tags)


def _what(view: SubscriptionView) -> str:
    return f"tags: {_tags(view)}; severity: {view.severity}"


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**63:
        raise ArgumentTypeError(f"{text!r} is no number of a subscription")
    return int(text)
