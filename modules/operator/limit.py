"""`cigri limit`: what jobs may use at the same time on the whole grid: licences, the load of a file server."""

from cigri.api_models.policy import LimitView
from cigri.cli.command import CommandParser, escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import limits, remove_limit, set_limit
from cigri.formats.json_values import to_json_value


def run(argv: list[str]) -> int:
    parser = CommandParser(
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
    with open_grid() as grid:
        if options.action == "remove":
            done = grid.call(remove_limit, name=options.name)
        else:
            done = grid.call(set_limit, name=options.name, capacity=options.capacity)
    print(escape_text(done.message))
    return 0


def _list(*, as_json: bool) -> int:
    with open_grid() as grid:
        declared = walk(grid, limits)
    if as_json:
        print_json(to_json_value(declared))
    else:
        print_table(LimitView._fields, declared)
    return 0
