"""The words of an expression, each with the column where it begins; a text is read once, from begin to end."""

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from cigri.errors import Problem, RequirementError

LONGEST = 20_000
WORDS = ("and", "or", "not", "in", "true", "false")
INSTEAD = {"&&": "and", "||": "or", "!": "not", "=": "==", "<>": "!=", "=~": "==", "&": "and", "|": "or"}

_TOKEN = re.compile(
    r"""
      (?P<blank>\s+)
    | (?P<string>'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+")
    | (?P<amount>(?:(?:[0-9]++-)?[0-9]++(?::[0-9]++)++
        |[-+]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+)(?![.:]))
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    | (?P<mark>==|!=|<=|>=|<(?!>)|>|[][(),])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_FOREIGN = re.compile(r"&&|\|\||<>|=~|[!=&|]|[^\s()\[\],<>='\"]{1,40}|.", re.DOTALL)


class Token(NamedTuple):
    """`kind`: string, amount, name, word (and, or, ...), mark, or end; a word is in small letters."""

    kind: str
    text: str
    column: int

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


def tokens(text: str) -> Iterator[Token]:
    """All of them, the last one of kind end; raise RequirementError where the text is none."""
    if len(text) > LONGEST:
        fail(LONGEST + 1, f"an expression has {LONGEST} characters at most")
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            fail(at + 1, *_fault(text, at))
        if found.lastgroup != "blank":
            yield _token(str(found.lastgroup), found[0], at + 1)
        at = found.end()
    yield Token("end", "", len(text) + 1)


def fail(column: int, message: str, hint: str = "") -> NoReturn:
    raise RequirementError([Problem(f"column {column}", message, hint)])


def _token(kind: str, text: str, column: int) -> Token:
    if kind == "string":
        return Token(kind, _ESCAPED.sub(r"\1", text[1:-1]), column)
    if kind == "name" and text.lower() in WORDS:
        return Token("word", text.lower(), column)
    return Token(kind, text, column)


def _fault(text: str, at: int) -> tuple[str, str]:
    if text[at] in "'\"":
        return "a quote is not closed", f"end the text with {text[at]}"
    found = _FOREIGN.match(text, at)
    word = found[0] if found else text[at]
    if word in INSTEAD:
        return f"{word!r} is not known here", f"write {INSTEAD[word]!r}"
    return f"cannot read {word!r}", "put text in quotes"
