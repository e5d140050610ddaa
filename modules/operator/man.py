"""`cigri man`: prints or writes the man pages of all commands."""

from pathlib import Path

from cigri.cli.command import DONE, CommandParser
from cigri.errors import UsageError
from modules.operator.man_pages import man_page, page_name
from modules.operator.parsers import list_programs

EXAMPLES = """\
  cigri man gridsub | man -l -                   read one page
  cigri man cigri cluster add | man -l -
  cigri man --to ~/.local/share/man/man1         write all pages; then: man gridsub"""


def run(argv: list[str]) -> int:
    parser = CommandParser("cigri man", "Print the man page of a command, or write all pages.", EXAMPLES)
    parser.add_argument("words", metavar="COMMAND", nargs="*", help="a command, with its sub-command if it has one")
    parser.add_argument("--to", metavar="DIR", type=Path, help="write the pages of all commands to this directory")
    asked = parser.parse_args(argv)
    if bool(asked.words) == bool(asked.to):
        parser.error("name a COMMAND, or a directory with --to")
    pages = {one.prog: one for tree in list_programs().values() for one in tree.walk()}
    if asked.words:
        if (name := " ".join(asked.words)) not in pages:
            raise UsageError(f"there is no command {name}; `cigri --help` and `gridsub --help` list them")
        print(man_page(pages[name], list(pages)), end="")
        return DONE
    asked.to.mkdir(parents=True, exist_ok=True)
    for name, one in pages.items():
        (asked.to / f"{page_name(name)}.1").write_text(man_page(one, list(pages)), encoding="utf-8")
    print(f"{len(pages)} man pages are written to {asked.to}/")
    return DONE
