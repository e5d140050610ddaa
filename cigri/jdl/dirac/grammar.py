"""The grammar of DIRAC's JDL, as the JobRequirements RFC (#7) and ClassAds write it: attributes, lists, sections.

text    = "[" entries "]" | entries
entries = { name "=" value ";" }          the last ";" may be missing
value   = string | number | true | false | "{" [value {"," value}] "}" | "[" entries "]"
"""

import re
from bisect import bisect_right
from decimal import Decimal
from typing import NamedTuple, NoReturn

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.formats.lexer import END_OF_TEXT, Lexer, LexerToken

DEEPEST_VALUE = 20
LONGEST_NUMBER = 30
TRUTHS = {"true": True, "false": False}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}

_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r\n\f]+)
    | (?P<comment>\#[^\n]*+|//[^\n]*+|/\*.*?\*/)
    | (?P<string>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*")
    | (?P<number>[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?(?![\w.]))
    | (?P<name>[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*)
    | (?P<mark>[][{}=;,])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WORD = re.compile(r"[^\s;,=\[\]{}]{1,40}|.", re.DOTALL)

JdlScalar = str | int | Decimal | bool


class TextPosition(NamedTuple):
    """Both count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class JdlAttribute(NamedTuple):
    """What stands behind a `=`, and where its name stands."""

    name: str
    value: "JdlValue"
    place: TextPosition


JdlSection = dict[str, JdlAttribute]
"""Attributes by their names in small letters: DIRAC's are read in any case."""

JdlValue = JdlScalar | list["JdlValue"] | JdlSection


def parse(text: str) -> JdlSection:
    """The attributes of a text; raise DescriptionError at the first thing that is wrong."""
    return _JdlReader(text).whole()


class _JdlReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(line.end() for line in re.finditer("\n", text))]
        self._tokens = Lexer(text, _TOKEN, self._fail_where_no_token_is, _meaning)

    def whole(self) -> JdlSection:
        is_bracketed = self._takes("[")
        section = self._entries("]" if is_bracketed else "", 0)
        if is_bracketed:
            self._expect("]")
        if self._tokens.next.kind != END_OF_TEXT:
            self._fail("behind the end of the description", "take it away")
        return section

    def _entries(self, closing: str, depth: int) -> JdlSection:
        """Up to the closing mark or, without one, the end of the text."""
        section: JdlSection = {}
        while not self._is_at_end(closing):
            attribute = self._attribute(depth)
            if first := section.get(attribute.name.lower()):
                message = f"{attribute.name} is given twice, first in {first.place}"
                raise DescriptionError([DescriptionProblem(str(attribute.place), message, "leave one of them out")])
            section[attribute.name.lower()] = attribute
            if not self._takes(";") and not self._is_at_end(closing):
                self._fail("expected ';' behind the value", f"end {attribute.name} with ';'")
        return section

    def _is_at_end(self, closing: str) -> bool:
        return self._tokens.is_next("mark", closing) if closing else self._tokens.next.kind == END_OF_TEXT

    def _attribute(self, depth: int) -> JdlAttribute:
        if self._tokens.next.kind != "name":
            self._fail("expected the name of an attribute")
        name = self._tokens.take()
        self._expect("=")
        return JdlAttribute(name.text, self._value(depth), self._position(name.at))

    def _value(self, depth: int) -> JdlValue:
        if depth > DEEPEST_VALUE:
            self._fail(f"more than {DEEPEST_VALUE} lists and sections stand in one another")
        if self._takes("["):
            section = self._entries("]", depth + 1)
            self._expect("]")
            return section
        if self._takes("{"):
            return self._list(depth + 1)
        token = self._tokens.next
        if token.kind == "name" and token.text.lower() in TRUTHS:
            return TRUTHS[self._tokens.take().text.lower()]
        if token.kind == "number":
            return self._number(self._tokens.take())
        if token.kind != "string":
            self._fail("expected a value", "put text in double quotes")
        return self._tokens.take().text

    def _list(self, depth: int) -> list[JdlValue]:
        values: list[JdlValue] = []
        if self._takes("}"):
            return values
        while True:
            values.append(self._value(depth))
            if self._takes("}"):
                return values
            if not self._takes(","):
                self._fail("expected ',' or '}' in a list")

    def _number(self, token: LexerToken) -> int | Decimal:
        if len(token.text) <= LONGEST_NUMBER:
            if token.text.lstrip("+-").isdigit():
                return int(token.text)
            if abs((number := Decimal(token.text)).adjusted()) <= LONGEST_NUMBER:
                return number
        self._fail_at(token.at, "is a number too long to be meant", "put it in quotes if it is text")

    def _takes(self, mark: str) -> bool:
        return self._tokens.takes("mark", mark)

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            self._fail(f"expected {mark!r}")

    def _position(self, at: int) -> TextPosition:
        line = bisect_right(self._lines, at)
        return TextPosition(line, at - self._lines[line - 1] + 1)

    def _fail(self, message: str, hint: str = "") -> NoReturn:
        self._fail_at(self._tokens.next.at, f"{message}: {self._tokens.next.shown}", hint)

    def _fail_where_no_token_is(self, at: int) -> NoReturn:
        self._fail_at(at, *_fault(self._text, at))

    def _fail_at(self, at: int, message: str, hint: str) -> NoReturn:
        raise DescriptionError([DescriptionProblem(str(self._position(at)), message, hint)])


def _meaning(kind: str, text: str) -> str:
    if kind != "string":
        return text
    return _ESCAPED.sub(lambda escaped: ESCAPES.get(escaped[1], escaped[1]), text[1:-1])


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
