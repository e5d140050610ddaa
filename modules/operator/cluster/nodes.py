"""`cigri cluster nodes`: shows the nodes that get no jobs, drains some, and gives them jobs again."""

from cigri.api_models.clusters import ExcludedNodeView
from cigri.cli.command import CommandParser, escape_text, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.cluster_changes import admit_nodes, drain_nodes, excluded_nodes
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value
from cigri.formats.units import localised
from cigri.presentation.formatting import format_time
from cigri.settings.deadlines import TIMES, with_zone

NODE_COLUMNS = ("Cluster", "Node", "State", "Since", "Until", "Times", "Why")
EXAMPLES = """\
  cigri cluster nodes
  cigri cluster nodes dahu --drain dahu-17 dahu-18 --by 2026-12-01T08:00
  cigri cluster nodes dahu --admit dahu-17 dahu-18"""


def run(argv: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    wishes = [bool(options.admit), bool(options.drain), options.json]
    if sum(wishes) > 1 or (any(wishes[:2]) and not options.name):
        parser.error("--admit and --drain take the name of one cluster before them, and nothing else beside them")
    if bool(options.drain) != (options.by is not None):
        parser.error("--drain and --by go together")
    with open_grid() as grid:
        if options.admit:
            done = grid.call(admit_nodes, cluster=options.name, nodes=options.admit)
        elif options.drain:
            done = grid.call(drain_nodes, cluster=options.name, nodes=options.drain, by=with_zone(options.by))
        else:
            _show(walk(grid, excluded_nodes, cluster=options.name), as_json=options.json)
            return 0
    print(escape_text(localised(done.message)))
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "cigri cluster nodes",
        "Show the nodes that get no jobs because an operator drains them, or tasks fail, vanish or end at once\n"
        "there, and those on trial since. Sick ones come back by themselves; --admit gives nodes jobs at once and\n"
        "forgets the past. The jobs of a node that drains find the time in $MACHINEFEATURES/shutdowntime.",
        EXAMPLES,
    )
    parser.add_argument("name", nargs="?", default="", metavar="CLUSTER")
    parser.add_argument("--admit", nargs="+", default=[], metavar="NODE")
    parser.add_argument("--drain", nargs="+", default=[], metavar="NODE", help="give these no new jobs")
    parser.add_argument("--by", metavar="TIME", help=f"with --drain: {TIMES}")
    parser.add_argument("--json", action="store_true", help="the list for programs")
    return parser


def _show(nodes: list[ExcludedNodeView], *, as_json: bool) -> None:
    if as_json:
        print_json(to_json_value(nodes))
    else:
        print_table(NODE_COLUMNS, [_line(node) for node in nodes], prose=("Node", "Why"))


def _line(node: ExcludedNodeView) -> tuple[object, ...]:
    state = "drains" if node.is_drained else "left out" if node.is_out else "on trial"
    return (
        node.cluster,
        node.node,
        state,
        format_time(node.since),
        format_time(node.until),
        node.strikes or None,
        node.reason,
    )
