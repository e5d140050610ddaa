"""`cigri resources history`: every description that was applied, and by whom."""

from cigri.cli.command import CommandParser, print_json
from cigri.cli.grid_client import open_grid
from cigri.cli.table_printing import print_table
from cigri.endpoints.paging import walk
from cigri.endpoints.resources import resource_documents
from cigri.formats.json_values import to_json_value
from cigri.formats.units import as_local


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri resources history",
        "Show every description that was applied, the one that holds first.",
        "  cigri resources history",
    )
    parser.add_argument("--json", action="store_true", help="for programs, with the texts")
    options = parser.parse_args(argv)
    with open_grid() as grid:
        documents = walk(grid, resource_documents)
    if options.json:
        print_json(to_json_value(documents))
    else:
        rows = [
            (document.version, as_local(document.at), document.by, document.text.count("\n")) for document in documents
        ]
        print_table(("version", "applied at", "by", "lines"), rows, prose=("by",))
    return 0
