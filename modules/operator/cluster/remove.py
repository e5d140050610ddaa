"""`cigri cluster remove`: forgets a cluster without a history."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_declarations import remove_cluster


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster remove", "Forget a cluster that no campaign has used.", "  cigri cluster remove dahu"
    )
    parser.add_argument("name")
    name = parser.parse_args(argv).name
    with open_grid() as grid:
        print(escape_text(grid.call(remove_cluster, cluster=name).message))
    return 0
