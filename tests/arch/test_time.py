"""The database alone says what time it is: nobody is told another, and nobody looks at another clock."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for room in ("cigri", "modules", "migrations") for path in sorted((ROOT / room).rglob("*.py"))]
OF_ITS_OWN = {
    "cigri/database/virtual.py",  # what makes the virtual time, from the server's
    "cigri/localbatch/engine.py",  # a batch system, as others outside the grid
    "cigri/transports/private_keys.py",  # whether a certificate has expired, which its sshd judges by its own clock
}
"""They look at the clock of the server or of this host."""

CLOCKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"}
OTHER_SQL = re.compile(
    r"\b(current_(timestamp|date|time)|localtime(stamp)?|(statement|clock|transaction)_timestamp|timeofday"
    r"|pg_catalog\.now)\b",
    re.IGNORECASE,
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def clocks(text: str) -> Iterator[str]:
    """Uses of a clock that is not the database's now()."""
    tree = ast.parse(text)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if any(name == clock or name.endswith(f".{clock}") for clock in CLOCKS) or OTHER_SQL.fullmatch(node.attr):
                yield f"line {node.lineno}: {name}"
        elif isinstance(node, ast.ImportFrom) and node.module == "time" and {"time", "time_ns"} & _names(node):
            yield f"line {node.lineno}: time"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield from (f"line {node.lineno}: {found[0]}" for found in OTHER_SQL.finditer(node.value))


def told(text: str, *, by_values: bool) -> Iterator[str]:
    """Functions that may be told the time, or not; `by_values`: those that have to be are pure, and in their right."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            required = {id(one) for one in _required(node.args)} if by_values else set()
            for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                annotation = "" if one.annotation is None else ast.unparse(one.annotation)
                if one.arg == "now" and (id(one) not in required or "None" in annotation):
                    yield f"line {node.lineno}: {node.name}"


def _names(node: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in node.names}


def _required(arguments: ast.arguments) -> list[ast.arg]:
    in_order = [*arguments.posonlyargs, *arguments.args]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return in_order[: len(in_order) - len(arguments.defaults)] + [one for one, default in named if default is None]


def test_no_clock_is_read_but_that_of_the_database() -> None:
    found = {relative(path): [*clocks(path.read_text())] for path in SOURCES}
    assert {name: read for name, read in found.items() if read and name not in OF_ITS_OWN} == {}, "func.now() is there"
    assert [name for name in OF_ITS_OWN if not found[name]] == []


def test_nobody_can_forget_to_tell_the_time() -> None:
    for path in SOURCES:
        by_values = not relative(path).startswith(("cigri/flow/", "cigri/tables/"))
        assert [*told(path.read_text(), by_values=by_values)] == [], path


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import UTC, datetime\nat = datetime.now(UTC)",
        "import datetime as dt\nat = dt.datetime.utcnow()",
        "import time\nat = time.time()",
        "from time import time\nat = time()",
        "at = func.current_timestamp()",
        "at = func.clock_timestamp() - timedelta(1)",
        "text('UPDATE t SET at = CURRENT_TIMESTAMP')",
        "text(f'SELECT {x} FROM t WHERE at < localtimestamp')",
    ],
)
def test_another_clock_is_noticed(text: str) -> None:
    assert len([*clocks(text)]) == 1


@pytest.mark.parametrize(
    "text", ['"""Not CURRENT_TIMESTAMP."""\nat = func.now()', "text('SELECT now()')", "self.now = time.monotonic()"]
)
def test_the_databases_clock_is_not_refused(text: str) -> None:
    assert [*clocks(text)] == []


@pytest.mark.parametrize(
    ("head", "of_flow", "of_others"),
    [
        ("conn: Connection, now: datetime | None = None", 1, 1),
        ("conn: Connection, now: datetime | None", 1, 1),
        ("conn: Connection, *, now: datetime = NOON", 1, 1),
        ("past: Past, now: datetime", 1, 0),
        ("past: Past, now: datetime, most: int = 1", 1, 0),
        ("past: Past, *, now: datetime, most: int = 1", 1, 0),
        ("conn: Connection, at: datetime", 0, 0),
    ],
)
def test_a_time_that_can_be_forgotten_is_noticed(head: str, of_flow: int, of_others: int) -> None:
    text = f"def look({head}) -> None:\n    pass\n"
    assert len([*told(text, by_values=False)]) == of_flow
    assert len([*told(text, by_values=True)]) == of_others
