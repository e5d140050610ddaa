"""`cigri affinity`: pairs of user and cluster; under the policy `affinity` the user goes first there."""

from cigri.cli.command import CommandParser, escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.paging import walk
from cigri.endpoints.policy import add_affinity, affinities, remove_affinity
from cigri.formats.json_values import to_json_value


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri affinity",
        "Say which users go first on which clusters, when `policy.order` is affinity.",
        "  cigri affinity add alice dahu\n  cigri affinity remove alice dahu\n  cigri affinity list",
    )
    parser.add_argument("action", choices=("add", "remove", "list"))
    parser.add_argument("user", nargs="?", metavar="USER")
    parser.add_argument("cluster", nargs="?", metavar="CLUSTER")
    parser.add_argument("--json", action="store_true", help="with list: for programs")
    options = parser.parse_args(argv)
    if options.action == "list":
        if options.user:
            parser.error("list takes no other word")
        return _list(as_json=options.json)
    if not options.cluster or options.json:
        parser.error(f"{options.action} takes USER and CLUSTER")
    change = remove_affinity if options.action == "remove" else add_affinity
    with open_grid() as grid:
        print(escape_text(grid.call(change, user=options.user, cluster=options.cluster).message))
    return 0


def _list(*, as_json: bool) -> int:
    with open_grid() as grid:
        pairs = walk(grid, affinities)
    if as_json:
        print_json(to_json_value(pairs))
    else:
        print_table(("user", "cluster"), pairs)
    return 0
