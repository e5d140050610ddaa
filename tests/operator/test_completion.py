"""`cigri completion` in real shells, and `cigri man` as man shows it: made of the parsers, of all commands."""

import os
import subprocess
from pathlib import Path

import pytest

from modules.operator.man_pages import man_page
from modules.operator.parsers import CommandTree, find_parser, list_programs
from tests.operator.conftest import Cigri
from tests.terminals import run_on_terminal

GROFF = ["groff", "-man", "-ww", "-Kutf8", "-Tutf8"]
SAY = '{0}() {{ echo "got:$*"; }}\n'
"""In the place of the program, which a shell completes by its name."""


def completed(script: str, program: str, typed: str, place: Path) -> str:
    """What the program gets as words when this is typed in a bash that has read the script, and Tab."""
    start = place / "bashrc"
    start.write_text(script + SAY.format(program))
    argv: list[str | Path] = ["bash", "--rcfile", start, "-i"]
    environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": str(place)}
    _, shown = run_on_terminal(argv, environment, place, typed=f"{program} {typed}\t\nexit\n")
    (got,) = [line.removeprefix("got:") for line in shown.splitlines() if line.startswith("got:")]
    return got.strip()


@pytest.mark.process
@pytest.mark.parametrize(
    ("program", "typed", "got"),
    [
        ("gridsub", "--res", "--resubmit"),
        ("griddel", "--for", "--forget"),
        ("gridtoken", "keys a", "keys add"),
        ("cigri", "cluster dr", "cluster drain"),
        ("cigri", "doctor --kill", "doctor --kill-orphans"),
        ("cigri", "completion fi", "completion fish"),
        ("gridsub", "-f desc", "-f description.yaml"),
    ],
)
def test_bash_completes_words(program: str, typed: str, got: str, cigri: Cigri, tmp_path: Path) -> None:
    (tmp_path / "description.yaml").touch()
    assert completed(cigri("completion", "bash").out, program, typed, tmp_path) == got


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_told_of_every_program(shell: str, cigri: Cigri) -> None:
    said = cigri("completion", shell)
    assert said.status == 0
    for program in list_programs():
        assert program in said.out
    for word in ("resubmit", "forget", "kill-orphans", "undrain"):
        assert word in said.out


def test_an_unknown_shell_is_told(cigri: Cigri) -> None:
    said = cigri("completion", "csh")
    assert (said.status, "bash" in said.err) == (2, True)


@pytest.mark.process
def test_groff_finds_nothing_wrong_with_any_page(cigri: Cigri, tmp_path: Path) -> None:
    said = cigri("man", "--to", str(tmp_path / "man1"))
    pages = sorted((tmp_path / "man1").iterdir())
    assert said.out == f"{len(pages)} man pages are written to {tmp_path}/man1/\n"
    assert {"gridsub.1", "cigri.1", "cigri-cluster-add.1", "gridtoken-keys-add.1"} <= {page.name for page in pages}
    for page in pages:
        done = subprocess.run([*GROFF, "-z", str(page)], capture_output=True, text=True, check=True)
        assert done.stderr == "", page.name


@pytest.mark.process
def test_a_page_shows_all_options_and_examples(cigri: Cigri) -> None:
    page = cigri("man", "griddel").out
    shown = subprocess.run([*GROFF, "-P-cbou"], input=page, capture_output=True, text=True, check=True).stdout
    for words in (
        "griddel - Cancel, hold",
        "--forget",
        "remove ended campaigns from lists",
        "griddel -j 345",
        "SEE ALSO",
    ):
        assert words in " ".join(shown.split())
    assert "examples:" not in shown


def test_a_page_of_a_sub_command_and_none_of_what_is_not_there(cigri: Cigri) -> None:
    assert "cigri\\-cluster\\-add" in cigri("man", "cigri", "cluster", "add").out
    assert "there is no command cigri clister" in cigri("man", "cigri", "clister").err
    assert cigri("man").status == 2


def test_text_is_no_request_of_roff() -> None:
    from cigri.cli.command import CommandParser

    parser = CommandParser("odd", "Begin.\n.SH not\n'so \\fB", "  odd")
    lines = man_page(parser, ["odd", "other"]).splitlines()
    assert "\\&.SH not" in lines
    assert "\\&\\(aqso \\efB" in lines


def test_every_command_says_its_parser_and_does_nothing_else() -> None:
    def runs_on(argv: list[str]) -> None:
        """A command that looks at its words with no parser."""

    with pytest.raises(AssertionError, match="asked no parser"):
        find_parser(runs_on)
    progs = [one.prog for tree in list_programs().values() for one in CommandTree.walk(tree)]
    assert len(progs) == len(set(progs))
