"""`cigri cluster undrain`: the cluster gets jobs again, and those that run are told that they may go on."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_changes import undrain_cluster


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster undrain",
        "End a drain: the cluster gets jobs, and those that run no longer find a shutdown announced.",
        "  cigri cluster undrain dahu",
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_grid() as grid:
        print(escape_text(grid.call(undrain_cluster, cluster=name).message))
    return 0
