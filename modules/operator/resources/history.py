"""`cigri resources history`: every description that was applied, and by whom."""

from cigri.cli.command import Parser, open_database, print_json
from cigri.cli.tables import print_table
from cigri.flow.resources import list_documents
from cigri.text.units import as_local


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri resources history",
        "Show every description that was applied, the one that holds first.",
        "  cigri resources history",
    )
    parser.add_argument("--json", action="store_true", help="for programs, with the texts")
    options = parser.parse_args(argv)
    with open_database() as database, database.begin() as conn:
        documents = list_documents(conn)
    if options.json:
        print_json([document._asdict() for document in documents])
    else:
        rows = [
            (document.version, as_local(document.at), document.by, document.text.count("\n")) for document in documents
        ]
        print_table(("version", "applied at", "by", "lines"), rows, prose=("by",))
    return 0
