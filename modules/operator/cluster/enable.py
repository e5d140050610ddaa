"""`cigri cluster enable`: gives it jobs, and forgives past failures."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_changes import enable_cluster


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster enable",
        "Give the cluster jobs again; past failures are forgiven.",
        "  cigri cluster enable dahu",
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_grid() as grid:
        print(escape_text(grid.call(enable_cluster, cluster=name).message))
    return 0
