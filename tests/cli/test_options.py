"""What the pages say of options is what the commands take; what users' commands take, their page says."""

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from cigri.cli import (
    gridclusters,
    griddel,
    gridevents,
    gridget,
    gridhold,
    gridnotify,
    gridstat,
    gridsub,
    gridtoken,
    gridusage,
    gridweb,
)
from modules import operator

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = {
    "gridstat": gridstat.main,
    "gridclusters": gridclusters.main,
    "gridsub": gridsub.main,
    "griddel": griddel.main,
    "gridhold": gridhold.hold,
    "gridresume": gridhold.resume,
    "gridevents": gridevents.main,
    "gridget": gridget.main,
    "gridnotify": gridnotify.main,
    "gridtoken": gridtoken.main,
    "gridusage": gridusage.main,
    "gridweb": gridweb.main,
    "cigri": operator.main,
}
OF_SEVERAL = ("cigri", "gridtoken")
TOKEN_ACTIONS = (
    *("gridtoken create", "gridtoken list", "gridtoken revoke"),
    *("gridtoken keys add", "gridtoken keys list", "gridtoken keys remove"),
)
EVERYWHERE = {"-h", "--help", "--version"}
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][a-z-]*(?!\w)")
CALL = re.compile(rf"(?<!-[lu] )(?<![\w/.-])({'|'.join(PROGRAMS)})((?: +[^ `\n|;&)]+)+)")
"""Behind -l and -u stands an account."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@cache
def options(*command: str) -> frozenset[str]:
    """Those that the help of a command names; empty when there is no such command."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        PROGRAMS[command[0]]([*command[1:], "--help"])
    if not out.getvalue().startswith(f"usage: {' '.join(command)} "):
        return frozenset()
    described = [re.split(" {2,}", line.strip())[0] for line in out.getvalue().splitlines() if line.startswith("  -")]
    return frozenset(option for line in described for option in OPTION.findall(line))


def calls(page: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The commands that a page shows, with an option each."""
    for program, rest in CALL.findall(page):
        words = re.split(" {2,}", QUOTED.sub("TEXT", rest).rstrip())[0].split()
        command = [program]
        while program in OF_SEVERAL and words and options(*command, words[0]):
            command.append(words.pop(0))
        yield from ((tuple(command), option) for word in words for option in OPTION.findall(word.partition("=")[0]))


def section(program: str) -> str:
    """Of docs/reference/commands.md, with its blocks and tables."""
    parts = re.split(r"(?m)^## ", (ROOT / "docs" / "reference" / "commands.md").read_text())
    (found,) = [part for part in parts if program in part.partition("\n")[0].split(", ")]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_on_a_page_are_those_of_the_commands(page: Path) -> None:
    unknown = [
        f"{' '.join(command)} {option}"
        for command, option in calls(page.read_text())
        if option not in options(*command)
    ]
    assert unknown == []


def test_pages_show_many_calls() -> None:
    """The test above has something to look at."""
    found = [call for page in PAGES for call in calls(page.read_text())]
    assert len(found) > 150
    assert {command[0] for command, _ in found} == set(PROGRAMS)
    assert (("cigri", "cluster", "add"), "--driver") in found


@pytest.mark.parametrize("program", [*(name for name in PROGRAMS if name not in OF_SEVERAL), *TOKEN_ACTIONS])
def test_the_page_of_commands_says_what_each_option_does(program: str) -> None:
    said = set(OPTION.findall(section(program.split()[0])))
    assert options(*program.split()) - EVERYWHERE - said == set()
