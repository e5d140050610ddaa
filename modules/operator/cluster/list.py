"""`cigri cluster list`: every declared cluster."""

from collections.abc import Sequence

from cigri.api_models.clusters import ClusterSnapshot
from cigri.cli.command import CommandParser, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.cluster_declarations import declared_clusters
from cigri.endpoints.paging import walk
from cigri.formats.json_values import to_json_value


def run(argv: list[str]) -> int:
    parser = CommandParser("cigri cluster list", "Show every declared cluster.", "  cigri cluster list")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        clusters = walk(grid, declared_clusters)
    if options.json:
        print_json(to_json_value(clusters))
    else:
        print_clusters([cluster.standing for cluster in clusters])
    return 0


def print_clusters(clusters: Sequence[ClusterSnapshot]) -> None:
    """A line for each; cores and free are everybody's, ours the cores of our jobs."""
    print_table(
        ("cluster", "driver", "front-end", "state", "cores", "free", "ours", "waiting", "running"),
        [
            (
                cluster.name,
                cluster.config["driver"],
                _front_end(cluster),
                cluster.state,
                cluster.total,
                cluster.free,
                cluster.used_by_us,
                cluster.waiting,
                cluster.running,
            )
            for cluster in clusters
        ],
        prose=("cluster", "front-end"),
    )


def _front_end(cluster: ClusterSnapshot) -> str:
    ssh = cluster.config.get("ssh")
    return f"{ssh['host']}:{ssh.get('port', 22)}" if ssh else "this host"
