"""`cigri cluster nodes`: shows the nodes that get no jobs, drains some, and gives them jobs again."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from cigri.cli.command import Parser, grid_user, open_database, print_json
from cigri.cli.tables import print_table
from cigri.cli.wording import moment
from cigri.errors import UsageError
from cigri.flow.drains import NodeDrain, end_node_drains, put_node_drain
from cigri.flow.excluded_nodes import ExcludedNode, admit_nodes, list_excluded_nodes
from cigri.flow.precedence import find_cluster_id
from modules.operator.cluster.declared import find
from modules.operator.cluster.drain import TIMES, parse_deadline

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
    with open_database() as database, database.begin() as conn:
        cluster_id = find_cluster_id(conn, options.name) if options.name else 0
        if options.admit:
            _admit(conn, cluster_id, options.name, options.admit)
            outcome = f"{', '.join(options.admit)} may have jobs again"
        elif options.drain:
            by = _drain(conn, cluster_id, options.name, options.drain, options.by)
            outcome = f"{', '.join(options.drain)}: no new jobs; what runs there is to end by {moment(by)}"
        else:
            _show(list_excluded_nodes(conn, options.name), as_json=options.json)
            return 0
    print(f"Cluster {options.name}: {outcome}")
    return 0


def _parser() -> Parser:
    parser = Parser(
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


def _admit(conn: Connection, cluster_id: int, name: str, nodes: Sequence[str]) -> None:
    excluded = {node.node for node in list_excluded_nodes(conn, name)}
    if strange := sorted(set(nodes) - excluded):
        raise UsageError(f"{', '.join(strange)}: not left out; `cigri cluster nodes {name}` lists them")
    admit_nodes(conn, cluster_id, name, nodes, grid_user())
    end_node_drains(conn, cluster_id, nodes)


def _drain(conn: Connection, cluster_id: int, name: str, nodes: Sequence[str], by: str) -> datetime:
    config = find(conn, name).config
    if config.in_use.driver == "local":
        raise UsageError(f"{name} is one host, no node of which can be left out: `cigri cluster drain {name}`")
    deadline = parse_deadline(conn, name, config, by)
    for node in nodes:
        put_node_drain(conn, cluster_id, NodeDrain(node, deadline, grid_user()))
    return deadline


def _show(nodes: Sequence[ExcludedNode], *, as_json: bool) -> None:
    if as_json:
        print_json([node._asdict() for node in nodes])
    else:
        print_table(NODE_COLUMNS, [_line(node) for node in nodes], prose=("Node", "Why"))


def _line(node: ExcludedNode) -> tuple[object, ...]:
    state = "drains" if node.is_drained else "left out" if node.is_out else "on trial"
    return node.cluster, node.node, state, moment(node.since), moment(node.until), node.strikes or None, node.reason
