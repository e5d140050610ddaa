"""`cigri cluster nodes`: shows the nodes that are left out as sick, and gives them jobs again."""

from cigri.cli.command import Parser, grid_user, open_database, print_json
from cigri.cli.tables import print_table
from cigri.cli.wording import moment
from cigri.errors import UsageError
from cigri.flow.anyone_to_runner import ExcludedNode, admit_nodes, list_excluded_nodes
from cigri.flow.operator_to_metascheduler import find_cluster_id

COLUMNS = ("Cluster", "Node", "State", "Since", "Until", "Times", "Why")


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster nodes",
        "Show the nodes that get no jobs because tasks fail, vanish or end at once there, and those on trial since.\n"
        "They come back by themselves; --admit gives them jobs at once and forgets the past.",
        "  cigri cluster nodes\n  cigri cluster nodes dahu --admit dahu-17 dahu-18",
    )
    parser.add_argument("name", nargs="?", default="", metavar="CLUSTER")
    parser.add_argument("--admit", nargs="+", default=[], metavar="NODE")
    parser.add_argument("--json", action="store_true", help="without --admit: for programs")
    options = parser.parse_args(argv)
    if options.admit and (not options.name or options.json):
        parser.error("--admit takes the name of one cluster before it, and no --json")
    with open_database() as database, database.begin() as conn:
        cluster_id = find_cluster_id(conn, options.name) if options.name else 0
        found = list_excluded_nodes(conn, options.name)
        if options.admit:
            if strange := sorted(set(options.admit) - {one.node for one in found}):
                raise UsageError(f"{', '.join(strange)}: not left out; `cigri cluster nodes {options.name}` lists them")
            admit_nodes(conn, cluster_id, options.name, options.admit, grid_user())
    if options.admit:
        print(f"Cluster {options.name}: {', '.join(options.admit)} may have jobs again")
    elif options.json:
        print_json([one._asdict() for one in found])
    else:
        print_table(COLUMNS, [_line(one) for one in found], prose=("Node", "Why"))
    return 0


def _line(one: ExcludedNode) -> tuple[object, ...]:
    state = "left out" if one.is_out else "on trial"
    return one.cluster, one.node, state, moment(one.since), moment(one.until), one.strikes, one.reason
