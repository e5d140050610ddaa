"""The words of DIRAC's JDL, each with its place; a text is read once, from its begin to its end."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple, NoReturn

from cigri.errors import DescriptionError, Problem

Scalar = str | int | Decimal | bool

ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
LONGEST_NUMBER = 30

_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r\n\f]+)
    | (?P<comment>\#[^\n]*+|//[^\n]*+|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]++|\\.)*+")
    | (?P<number>[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?(?![\w.]))
    | (?P<name>[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*+)
    | (?P<mark>[][{}=;,])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WORD = re.compile(r"[^\s;,=\[\]{}]{1,40}|.", re.DOTALL)


class Position(NamedTuple):
    """Both count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class JdlToken(NamedTuple):
    """`kind`: string, number, name, mark, or end; `value`: of a string or number what it means, else its text."""

    kind: str
    value: Scalar
    place: Position

    @property
    def shown(self) -> str:
        return "the end of the text" if self.kind == "end" else repr(str(self.value))


def tokens(text: str) -> Iterator[JdlToken]:
    """All of them, the last one of kind end; raise DescriptionError where the text is none."""
    at, line, begin = 0, 1, 0
    while at < len(text):
        place = Position(line, at - begin + 1)
        found = _TOKEN.match(text, at)
        if found is None:
            _fail(place, *_fault(text, at))
        kind, word = str(found.lastgroup), found[0]
        if kind not in ("blank", "comment"):
            yield JdlToken(kind, _value(kind, word, place), place)
        at = found.end()
        if "\n" in word:
            line, begin = line + word.count("\n"), found.start() + word.rindex("\n") + 1
    yield JdlToken("end", "", Position(line, at - begin + 1))


def _value(kind: str, word: str, place: Position) -> Scalar:
    if kind == "string":
        return _ESCAPED.sub(lambda escaped: ESCAPES.get(escaped[1], escaped[1]), word[1:-1])
    if kind != "number":
        return word
    if len(word) <= LONGEST_NUMBER:
        if word.lstrip("+-").isdigit():
            return int(word)
        if abs((number := Decimal(word)).adjusted()) <= LONGEST_NUMBER:
            return number
    _fail(place, "is a number too long to be meant", "put it in quotes if it is text")


def _fault(text: str, at: int) -> tuple[str, str]:
    """Why no token begins here, and what to do about it."""
    if text[at] == '"':
        return "a string is not closed on its line", 'end it with ", or write \\n for a new line'
    if text.startswith("/*", at):
        return "a comment is not closed", "end it with */"
    if text[at] == "'":
        return "a string is in double quotes here", 'write "..."'
    word = _WORD.match(text, at)
    return f"cannot read {word[0]!r}" if word else "cannot be read", "put text in double quotes"


def _fail(place: Position, message: str, hint: str) -> NoReturn:
    raise DescriptionError([Problem(str(place), message, hint)])
