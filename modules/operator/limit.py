"""`cigri limit`: what jobs may use at the same time on the whole grid: licences, the load of a file server."""

from cigri.cli.command import Parser, open_database, print_json
from cigri.cli.tables import print_table
from cigri.errors import UsageError
from cigri.estimates.plausible import LARGEST_INTEGER
from cigri.flow.ceilings import LimitView, list_limits, put_limit, remove_limit
from cigri.jdl.kinds_of_values import LIMIT_NAME


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri limit",
        "Say how many tokens of something there are for all jobs together, such as licences.\n"
        'A campaign with "limits": {"matlab": 1} takes one for each of its jobs.',
        "  cigri limit set matlab 20\n  cigri limit remove matlab\n  cigri limit list",
    )
    parser.add_argument("action", choices=("set", "remove", "list"))
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("capacity", nargs="?", type=int, metavar="CAPACITY")
    parser.add_argument("--json", action="store_true", help="with list: for programs")
    options = parser.parse_args(argv)
    if options.action == "list":
        if options.name:
            parser.error("list takes no other word")
        return _list(as_json=options.json)
    if not options.name or (options.action == "set") != (options.capacity is not None) or options.json:
        parser.error(f"{options.action} takes NAME{' CAPACITY' if options.action == 'set' else ''}")
    with open_database() as database, database.begin() as conn:
        if options.action == "remove":
            remove_limit(conn, options.name)
            print(f"There is no limit {options.name} any more")
        else:
            if not LIMIT_NAME.fullmatch(options.name) or not 0 <= options.capacity <= LARGEST_INTEGER:
                raise UsageError("a name has letters, digits, '.', '_', '-'; a capacity is a whole number, 0 or more")
            put_limit(conn, options.name, options.capacity)
            print(f"All jobs together may use {options.capacity} of {options.name}")
    return 0


def _list(*, as_json: bool) -> int:
    with open_database() as database, database.begin() as conn:
        limits = list_limits(conn)
    if as_json:
        print_json([view._asdict() for view in limits])
    else:
        print_table(LimitView._fields, limits)
    return 0
