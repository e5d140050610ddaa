"""`cigri resources diff`: how the texts of two descriptions differ."""

import sys
from difflib import unified_diff

from cigri.cli.command import CommandParser
from cigri.cli.grid_client import open_grid
from cigri.endpoints.resources import resource_document


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri resources diff",
        "Show how the texts of two descriptions differ.",
        "  cigri resources diff 3      from version 3 to the one that holds\n  cigri resources diff 3 5",
    )
    parser.add_argument("old", metavar="OLD", type=int, help="a version")
    parser.add_argument("new", metavar="NEW", nargs="?", type=int, help="none: the one that holds")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        old, new = (grid.call(resource_document, version=version) for version in (options.old, options.new))
    before, after = (document.text.splitlines(keepends=True) for document in (old, new))
    sys.stdout.writelines(unified_diff(before, after, f"version {old.version}", f"version {new.version}"))
    return 0
