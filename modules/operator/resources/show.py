"""`cigri resources show`: a description as it was written."""

import sys

from cigri.cli.command import CommandParser
from cigri.cli.grid_client import open_grid
from cigri.endpoints.resources import resource_document


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri resources show",
        "Print the description that holds, or an earlier one, as it was written.",
        "  cigri resources show\n  cigri resources show 3 >resources.toml",
    )
    parser.add_argument("version", metavar="VERSION", nargs="?", type=int, help="none: the one that holds")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        sys.stdout.write(grid.call(resource_document, version=options.version).text)
    return 0
