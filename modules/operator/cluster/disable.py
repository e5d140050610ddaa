"""`cigri cluster disable`: keeps new jobs away from it."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_changes import disable_cluster


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster disable",
        "Give the cluster no new jobs; those it has are watched to their end.",
        "  cigri cluster disable dahu",
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_grid() as grid:
        print(escape_text(grid.call(disable_cluster, cluster=name).message))
    return 0
