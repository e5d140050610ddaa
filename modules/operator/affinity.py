"""`cigri affinity`: pairs of user and cluster; under the policy `affinity` the user goes first there."""

from cigri.cli.command import Parser, open_database, print_json
from cigri.cli.tables import print_table
from cigri.flow.precedence import list_affinity_views, put_affinity, remove_affinity


def run(argv: list[str]) -> int:
    parser = Parser(
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
    with open_database() as database, database.begin() as conn:
        if options.action == "remove":
            remove_affinity(conn, options.user, options.cluster)
            print(f"{options.user} has no affinity with {options.cluster} any more")
        else:
            is_new = put_affinity(conn, options.user, options.cluster)
            print(f"{options.user} {'has' if is_new else 'already had'} an affinity with {options.cluster}")
    return 0


def _list(*, as_json: bool) -> int:
    with open_database() as database, database.begin() as conn:
        pairs = list_affinity_views(conn)
    if as_json:
        print_json([view._asdict() for view in pairs])
    else:
        print_table(("user", "cluster"), pairs)
    return 0
