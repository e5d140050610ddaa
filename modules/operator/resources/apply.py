"""`cigri resources apply`: a description is checked, what it changes is shown, and from then on it holds."""

import sys
from pathlib import Path

from cigri.cli.command import CommandParser, escape_text, print_error
from cigri.cli.grid_client import open_grid
from cigri.endpoints.resources import apply_resources
from cigri.errors import ConfigError

EXAMPLES = """\
  cigri resources apply resources.toml --dry-run
  cigri resources apply resources.toml
  cigri resources show 3 | cigri resources apply -"""


def run(argv: list[str]) -> int:
    parser = CommandParser(
        "cigri resources apply",
        "Put a description of sites, clusters and queues into force, in place of the one before:\n"
        "docs/reference/resources.md.",
        EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="TOML; - is standard input")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    options = parser.parse_args(argv)
    text = _read(options.file)
    with open_grid() as grid:
        try:
            applied = grid.send(apply_resources, [text], check=options.dry_run)
        except ConfigError as error:
            raise ConfigError(f"{options.file}:\n{error}") from None
    for doubt in applied.doubts:
        print_error(doubt)
    print(escape_text("\n".join(applied.changes)) if applied.changes else "Nothing changes")
    if applied.version is not None:
        print(f"Version {applied.version} holds")
    return 0


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {error}") from None
