"""`cigri resources apply`: a description is checked, what it changes is shown, and from then on it holds."""

import sys
from pathlib import Path

from cigri import drivers
from cigri.cli.command import Parser, complain, grid_user, open_database
from cigri.errors import ConfigError
from cigri.flow.resources import find_description, list_documents, list_drivers, list_found_queues, put_description
from cigri.resources.description import difference
from cigri.resources.document import misplaced, read_document, unheard_of

EXAMPLES = """\
  cigri resources apply resources.toml --dry-run
  cigri resources apply resources.toml
  cigri resources show 3 | cigri resources apply -"""


def run(argv: list[str]) -> int:
    parser = Parser(
        "cigri resources apply",
        "Put a description of sites, clusters and queues into force, in place of the one before:\n"
        "docs/reference/resources.md.",
        EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="TOML; - is standard input")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    options = parser.parse_args(argv)
    text = _read(options.file)
    try:
        description = read_document(text)
    except ConfigError as error:
        raise ConfigError(f"{options.file}:\n{error}") from None
    with open_database() as database, database.begin() as conn:
        before = find_description(conn)
        if problems := misplaced(description, list_drivers(conn), drivers.names()):
            raise ConfigError("\n".join([f"{options.file}:", *problems]))
        for doubt in unheard_of(description, list_found_queues(conn)):
            complain(doubt)
        changes = difference(before, description)
        print("\n".join(changes) if changes else "Nothing changes")
        newest = list_documents(conn)[:1]
        if options.dry_run or (not changes and newest and newest[0].text == text):
            return 0
        version = put_description(conn, description, text, grid_user())
    print(f"Version {version} holds")
    return 0


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {error}") from None
