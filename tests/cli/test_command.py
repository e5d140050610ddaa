"""What all commands share: statuses, complaints, ids, and how tables look where."""

import argparse
import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from cigri.cli.command import CommandParser, command, escape_text, grid_user, ids, print_json
from cigri.cli.table_printing import print_table
from cigri.errors import CigriError, ConfigError, DatabaseUnavailable, NotFound, UsageError
from tests.cli.running import Terminal

Capture = pytest.CaptureFixture[str]


def raising(error: BaseException) -> Callable[..., int]:
    @command
    def main(argv: list[str]) -> int:
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (CigriError("no"), 1),
        (NotFound("no"), 1),
        (DatabaseUnavailable("no"), 1),
        (UsageError("no"), 2),
        (ConfigError("no"), 2),
        (SystemExit(2), 2),
        (SystemExit("no"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_error_has_its_status(error: BaseException, status: int, capsys: Capture) -> None:
    assert raising(error)([]) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert ("no" in said.err) == isinstance(error, CigriError)


def test_an_unexpected_error_shows_where_it_comes_from(capsys: Capture) -> None:
    assert raising(ZeroDivisionError("oops"))([]) == 1
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "ZeroDivisionError: oops" in said
    assert "a bug in CiGri" in said


@pytest.mark.process
def test_python_ends_without_a_search_for_garbage() -> None:
    code = (
        "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
        "from cigri.cli.command import command\n"
        "command(lambda argv: 0)()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.process
def test_a_reader_that_goes_away_is_no_news() -> None:
    code = (
        "import sys; from cigri.cli.command import command\n"
        "@command\n"
        "def main(argv):\n"
        "    for _ in range(100_000): print('x' * 100)\n"
        "    return 0\n"
        "sys.exit(main())\n"
    )
    pipe = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert pipe.stdout is not None
    assert pipe.stderr is not None
    with pipe:
        pipe.stdout.readline()
        pipe.stdout.close()
        assert pipe.stderr.read() == ""
    assert pipe.returncode == 141


def test_the_user_is_the_account_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "mallory")
    assert grid_user() == pwd.getpwuid(os.geteuid()).pw_name


def test_an_account_without_a_name_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 2**31 - 5)
    with pytest.raises(CigriError, match="has no name on this host"):
        grid_user()


@pytest.mark.parametrize(
    ("text", "found"), [("3", [3]), ("3,5", [3, 5]), ("3-5", [3, 4, 5]), (" 1, 4-5 ,4", [1, 4, 5])]
)
def test_ids_as_typed(text: str, found: list[int]) -> None:
    assert ids(text) == found


@pytest.mark.parametrize("text", ["", ",", "-3", "3-", "1.5", "x", "5-3", "1-10001", "1_0", "²"])
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        ids(text)


def test_options_are_whole_words_and_near_ones_are_told(capsys: Capture) -> None:
    parser = CommandParser("grid", "Does.", "  grid 1")
    parser.add_argument("--resubmit", action="store_true")
    for wrong in ("--resub", "--resumbit"):
        with pytest.raises(SystemExit) as done:
            parser.parse_args([wrong])
        assert done.value.code == 2
        assert f"unrecognized arguments: {wrong} (did you mean --resubmit?)" in capsys.readouterr().err


def test_a_table_in_a_pipe_is_plain_and_aligned(capsys: Capture) -> None:
    print_table(["id", "name"], [(1, "a"), (100, None), (7, "two\nlines \x1b[31m")])
    assert capsys.readouterr().out == "id   name\n1    a\n100  -\n7    two lines \\x1b[31m\n"


def test_a_table_without_rows_has_its_headers(capsys: Capture) -> None:
    print_table(["id", "name"], [])
    assert capsys.readouterr().out == "id  name\n"


def test_a_table_on_a_terminal_takes_no_markup_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    print_table(["id", "name"], [(1, "[red]a[/red] \x1b[2J")])
    assert screen.getvalue() == "id  name\n--  --------------------\n 1  [red]a[/red] \\x1b[2J\n"


def test_json_has_dates_and_all_letters(capsys: Capture) -> None:
    print_json({"at": datetime(2026, 1, 2, tzinfo=UTC), "name": "é"})
    text = capsys.readouterr().out
    assert json.loads(text) == {"at": "2026-01-02T00:00:00+00:00", "name": "é"}
    assert "é" in text


def test_control_characters_are_spelled_out() -> None:
    assert escape_text("a\tb\nc\rd\x1b\x85\u202e") == "a\tb\nc\\rd\\x1b\\x85\\u202e"
