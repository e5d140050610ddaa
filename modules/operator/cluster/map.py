"""`cigri cluster map`: which account of a cluster runs a grid user's jobs."""

from cigri.cli.command import Parser, open_database
from cigri.errors import UsageError
from cigri.flow.clusters import map_user
from cigri.transports.address import ACCOUNT


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri cluster map",
        "Say which account of the cluster runs the jobs of a grid user, from the next submission on.\n"
        "Without LOCAL_USER: the account of the same name again.",
        "  cigri cluster map dahu alice asmith\n  cigri cluster map dahu alice",
    )
    parser.add_argument("name")
    parser.add_argument("grid_user", metavar="GRID_USER")
    parser.add_argument("local_user", metavar="LOCAL_USER", nargs="?", default="")
    options = parser.parse_args(argv)
    if options.local_user and not ACCOUNT.fullmatch(options.local_user):
        raise UsageError(f"{options.local_user!r} cannot be the name of an account")
    with open_database() as database, database.begin() as conn:
        map_user(conn, options.name, options.grid_user, options.local_user)
    print(f"On {options.name} the jobs of {options.grid_user} run as {options.local_user or options.grid_user}")
    return 0
