"""What jobs, users and clusters write steers nobody's terminal, wherever it is shown."""

import json
import logging
from pathlib import Path

import pytest
from sqlalchemy import text

from cigri import jdl
from cigri.cli.command import print_json
from cigri.database import Database
from cigri.errors import DescriptionError
from cigri.flow.events import NewEvent, put_events
from cigri.formats.untrusted_text import EscapingFormatter, escape_line, escape_text, excerpt, safe_json
from cigri.lifecycle.task_failures import last_stderr_line
from cigri.states import EventLevel
from tests.grid import Grid

EVIL = "a\x1b]0;title\x07b\x9b31mc\u202ed\u2066e\u2028f\x7fg\u0085h\r"
SEEN = r"a\x1b]0;title\x07b\x9b31mc\u202ed\u2066e\u2028f\x7fg\x85h\r"
STEERS = [char for char in EVIL if not char.isprintable()]


def test_what_steers_a_terminal_is_spelled_out() -> None:
    assert escape_text(EVIL) == SEEN
    assert escape_text("é 日本\n\tx") == "é 日本\n\tx"
    assert escape_line("one\ntwo\tthree") == r"one\ntwo\tthree"


def test_of_long_words_the_beginning_and_the_end_are_told() -> None:
    """The cause stands first, the effect last, and hundreds of lines of the same between them."""
    said = excerpt("  no quota is left\n" + 400 * "again\n" + "given up\n")
    assert said.startswith("no quota is left\n")
    assert said.endswith("\ngiven up")
    assert " ... " in said
    assert len(said) <= 600
    assert excerpt(" short \n") == "short"


def test_json_is_the_same_and_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"said": EVIL + "\nend \U000e0001 é", EVIL: [1]}
    print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert not set(STEERS) & set(printed)
    assert "é" in printed
    assert safe_json(json.dumps(EVIL, ensure_ascii=False)) == safe_json(json.dumps(EVIL))


def test_events_hold_nothing_that_steers(database: Database) -> None:
    with database.begin() as conn:
        put_events(conn, [NewEvent("ODD", EventLevel.ERROR, f"task\n{EVIL}", f"said\n{EVIL}")])
        event = conn.execute(text("SELECT subject, message FROM events")).one()
    assert event.subject == rf"task\n{SEEN}"
    assert event.message == f"said\n{SEEN}"


def test_standard_error_is_one_line_of_an_event(local: Grid) -> None:
    local.submit(["1"], command=r"printf 'first\n2026-01-01 ERROR forged\n\033[2Jlast' >&2; exit 3")
    local.run_until(lambda: local.counts() == {"failed": 1})
    message = local.one("SELECT message FROM events WHERE code = 'TASK_FAILED'")
    assert message == r"failure, exit code 3; stderr ends: first\n2026-01-01 ERROR forged\n\x1b[2Jlast"
    assert last_stderr_line(message) == r"\x1b[2Jlast"


def test_the_log_holds_nothing_that_steers() -> None:
    record = logging.LogRecord("x", logging.ERROR, "", 1, "job says %s", (EVIL,), None)
    assert EscapingFormatter("%(message)s").format(record) == f"job says {SEEN}"


@pytest.mark.parametrize("char", [*dict.fromkeys(STEERS), "\n", "\0", "\t"])
@pytest.mark.parametrize("field", ["exec_file", "name", "project", "exec_directory"])
def test_a_description_takes_no_control_characters(field: str, char: str) -> None:
    fields = {"name": "x", "exec_file": "echo", "nb_jobs": 1, "clusters": {"a": {}}, field: f"/b{char}c"}
    with pytest.raises(DescriptionError, match=field):
        jdl.parse(json.dumps(fields), format="json", base=Path("/"), home=Path("/"))
