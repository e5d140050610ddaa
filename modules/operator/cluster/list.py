"""`cigri cluster list`: every declared cluster."""

from collections.abc import Sequence
from typing import Any

from cigri.cli.command import Parser, open_database, print_json
from cigri.cli.tables import print_table
from cigri.flow.views.clusters import ClusterStanding, list_cluster_standings, list_mappings


def run(argv: list[str]) -> int:
    parser = Parser("cigri cluster list", "Show every declared cluster.", "  cigri cluster list")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    with open_database() as database, database.begin() as conn:
        clusters = list_cluster_standings(conn)
        accounts = {cluster.name: list_mappings(conn, cluster.name) for cluster in clusters}
    if options.json:
        print_json([plain(cluster, accounts[cluster.name]) for cluster in clusters])
    else:
        print_clusters(clusters)
    return 0


def plain(cluster: ClusterStanding, accounts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What `--json` prints of a cluster; `accounts` are pairs of grid user and local user."""
    mapped = [{"grid_user": grid_user, "local_user": local_user} for grid_user, local_user in accounts]
    return {**cluster._asdict(), "state": cluster.state, "accounts": mapped}


def print_clusters(clusters: Sequence[ClusterStanding]) -> None:
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


def _front_end(cluster: ClusterStanding) -> str:
    ssh = cluster.config.get("ssh")
    return f"{ssh['host']}:{ssh.get('port', 22)}" if ssh else "this host"
