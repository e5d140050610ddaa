"""`cigri cluster map`: which account of a cluster runs a grid user's jobs."""

from cigri.cli.command import CommandParser, escape_text
from cigri.cli.grid_client import open_grid
from cigri.endpoints.cluster_declarations import map_account


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri cluster map",
        "Say which account of the cluster runs the jobs of a grid user, from the next submission on.\n"
        "Without LOCAL_USER: the account of the same name again.",
        "  cigri cluster map dahu alice asmith\n  cigri cluster map dahu alice",
    )
    parser.add_argument("name")
    parser.add_argument("grid_user", metavar="GRID_USER")
    parser.add_argument("local_user", metavar="LOCAL_USER", nargs="?", default="")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        done = grid.call(map_account, cluster=options.name, user=options.grid_user, account=options.local_user)
    print(escape_text(done.message))
    return 0
