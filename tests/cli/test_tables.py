"""Tables on terminals of any width: nothing is cut, and what people see at the usual widths."""

import re
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.api_models.failures import ErrorView
from cigri.cli.campaigns import print_errors
from cigri.cli.command import print_error
from cigri.cli.table_printing import fitted, print_fields, print_table
from cigri.cli.text_wrapping import width_of, wrap_text
from cigri.presentation.formatting import parameter_words, shortened
from tests.cli.running import Terminal
from tests.cli.screens import WIDTHS, screen, stored
from tests.factories import NOON

HEADERS = ("Id", "Name", "State", "Waiting", "Done", "Failed", "Submission time", "Message")
PROSE = ("Name", "Message")
WORDS = st.text("abc é漢-_", max_size=60)
NUMBERS = st.integers(0, 10**9)
AT = "2026-03-01 12:00:00"
ROW = st.tuples(NUMBERS, WORDS, st.sampled_from(("ok", "set aside")), *[NUMBERS] * 3, st.just(AT), WORDS)


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.usefixtures("utc")
def test_what_people_see(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change on purpose: python -P -m tests.cli.screens."""
    shown = screen(width, monkeypatch)
    assert shown == stored(width).read_text()
    assert max(map(width_of, shown.splitlines())) <= width
    assert "…" not in shown


@given(st.lists(ROW, min_size=1, max_size=4), st.integers(24, 200))
def test_nothing_is_cut_at_any_width(rows: list[tuple[object, ...]], width: int) -> None:
    lines = fitted(HEADERS, rows, width, prose=PROSE)
    text = "\n".join(lines)
    assert max(map(width_of, lines)) <= width
    for row in rows:
        assert text.count(AT) == len(rows)
        assert all(re.search(rf"(?<!\d){cell}(?!\d)", text) for cell in row if isinstance(cell, int) and cell)
        for words in row[1], row[7]:
            assert set(str(words)) - {" "} <= set(text)


def test_columns_that_say_nothing_go() -> None:
    rows = [(0, "a", None, 0, "none", 1), (0, "b", "", 0, "none", 0)]
    assert fitted(("id", "name", "why", "failed", "prologue", "done"), rows, 80) == [
        "id  name  done",
        "--  ----  ----",
        " 0  a        1",
        " 0  b        0",
    ]
    assert fitted(("id", "name"), [], 80) == ["id  name", "--  ----"]


def test_what_has_no_room_stands_beneath_in_words() -> None:
    rows = [(1, "running", 20000, 1234567, "it is there")]
    assert fitted(("id", "state", "done", "waiting", "Why"), rows, 22, prose=("Why",)) == [
        "id  state     done",
        "--  -------  -----",
        " 1  running  20000",
        "    waiting 1234567",
        "    Why: it is there",
    ]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("ends 2026-03-01 12:00:00 at most", 20, ["ends", "2026-03-01 12:00:00", "at most"]),
        ("in 5 h 30 min or so", 12, ["in", "5 h 30 min", "or so"]),
        ("type `gridstat -e 1` now", 16, ["type", "`gridstat -e 1`", "now"]),
        ("`gridstat -e 1` now", 9, ["`gridstat", "-e 1` now"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("漢字漢字", 4, ["漢字", "漢字"]),
    ],
)
def test_lines_are_broken_where_a_person_would(text: str, width: int, lines: list[str]) -> None:
    assert wrap_text(text, width) == lines


def test_fields_on_a_terminal_go_on_beneath_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    print_fields([("Tasks", "1 waiting, 2 in jobs, 3 done, 4 failed"), ("Name", "a"), ("Mean", None)])
    assert terminal.getvalue() == "Tasks: 1 waiting, 2 in jobs, 3 done, 4\n       failed\nName:  a\n"


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("frame1 -w 320", "frame1 -w 320"),
        (None, ""),
        (["first image.png", "1"], "'first image.png' 1"),
        ({"seed": 1, "model": "a"}, "seed=1 model=a"),
        ({"x": "1", "y": 1.5, "z": True, "w": "true"}, 'x="1" y=1.5 z=true w="true"'),
        ({"name": "first image.png", "empty": "", "sum": "a=b"}, 'name="first image.png" empty="" sum="a=b"'),
    ],
)
def test_parameters_are_shown_as_they_were_given(parameter: object, words: str) -> None:
    assert parameter_words(parameter) == words


def test_what_goes_into_a_pipe_is_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 1000 + "end"
    assert shortened(long) == long
    print_table(["id", "name"], [(1, long)], prose=["name"])
    assert capsys.readouterr().out.splitlines()[1] == f"1   {long}"
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert len(shortened(long)) == 200


def test_the_end_of_a_long_message_which_tells_most_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    message = f"30 tasks in a row failed; {'the cluster is set aside ' * 12}Last failure: no disk"
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    error = ErrorView(1, "CLUSTER_SET_ASIDE", 1, "alice", "dahu", None, None, 1, NOON, NOON, message)
    print_errors([error], headerless=True)
    assert message in " ".join(terminal.getvalue().split())


def test_a_complaint_is_broken_where_the_terminal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "argv", ["gridstat"])
    monkeypatch.setenv("COLUMNS", "30")
    print_error("2 tasks failed; `gridstat -e 1` shows why\n  short")
    assert terminal.getvalue() == "gridstat: 2 tasks failed;\n`gridstat -e 1` shows why\n  short\n"
