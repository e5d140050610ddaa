"""The tokens of a small language, one after the other and one ahead: all readers of ours begin with this one."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

SKIPPED = ("blank", "comment")
END_OF_TEXT = "end"


class LexerToken(NamedTuple):
    """`kind`: a group of the pattern, or END; `text`: what it means; it begins at character `at`, counted from 0."""

    kind: str
    text: str
    at: int

    @property
    def shown(self) -> str:
        """As an error message names it: in quotes, or "the end"."""
        return "the end" if self.kind == END_OF_TEXT else repr(self.text)


class Lexer:
    """Goes through a text once, in time that grows as its length; `next` is not taken yet, after the last it is END.

    pattern: a group for each kind, of which the SKIPPED ones are left out. fault: raises, for a character where no
    token begins. meaning: from kind and text as it is written to what it means.
    """

    def __init__(
        self,
        text: str,
        pattern: re.Pattern[str],
        fault: Callable[[int], NoReturn],
        meaning: Callable[[str, str], str] = lambda kind, text: text,
    ) -> None:
        self._source = _tokens(text, pattern, fault, meaning)
        self.next = next(self._source)

    def take(self) -> LexerToken:
        """Step over the next token and give it; the one at the end of the text comes again and again."""
        taken, self.next = self.next, next(self._source, self.next)
        return taken

    def is_next(self, kind: str, text: str) -> bool:
        """Is the next token of this kind and text? It is not taken."""
        return self.next.kind == kind and self.next.text == text

    def takes(self, kind: str, text: str) -> bool:
        """Take the next token if it is of this kind and text."""
        if self.is_next(kind, text):
            self.take()
            return True
        return False


def _tokens(
    text: str, pattern: re.Pattern[str], fault: Callable[[int], NoReturn], meaning: Callable[[str, str], str]
) -> Iterator[LexerToken]:
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            fault(at)
        kind = str(match.lastgroup)
        if kind not in SKIPPED:
            yield LexerToken(kind, meaning(kind, match[0]), at)
        at = match.end()
    yield LexerToken(END_OF_TEXT, "", at)
