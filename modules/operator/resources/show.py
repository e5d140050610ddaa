"""`cigri resources show`: a description as it was written."""

import sys

from cigri.cli.command import Parser, open_database
from cigri.flow.resources import find_document


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri resources show",
        "Print the description that holds, or an earlier one, as it was written.",
        "  cigri resources show\n  cigri resources show 3 >resources.toml",
    )
    parser.add_argument("version", metavar="VERSION", nargs="?", type=int, help="none: the one that holds")
    options = parser.parse_args(argv)
    with open_database() as database, database.begin() as conn:
        sys.stdout.write(find_document(conn, options.version).text)
    return 0
