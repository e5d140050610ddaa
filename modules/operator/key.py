"""`cigri key`: the short name of this grid in the jobs and directories that it leaves on clusters."""

import re

from cigri.cli.command import CommandParser, open_database
from cigri.errors import CigriError, UsageError
from cigri.flow.grid_identity import grid_key, put_grid_key

GRID_KEY = re.compile("[a-z0-9]{4,8}")


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri key",
        "Show the key of this grid, or choose it before the first job is sent. Jobs are called cigri.KEY... there,\n"
        "and their files lie in .cigri/KEY; no two grids may use one key on the same accounts. At first it is random.",
        "  cigri key\n  cigri key physics",
    )
    parser.add_argument("key", nargs="?", metavar="KEY", help="4 to 8 small letters and digits")
    key = parser.parse_args(argv).key
    if key is not None and not GRID_KEY.fullmatch(key):
        raise UsageError(f"a key has 4 to 8 small letters and digits, unlike {key!r}")
    with open_database() as database, database.begin() as conn:
        if key is not None and key != grid_key(conn) and not put_grid_key(conn, key):
            raise CigriError(f"jobs were sent under the key {grid_key(conn)}, and would not be found under another")
        print(grid_key(conn))
    return 0
