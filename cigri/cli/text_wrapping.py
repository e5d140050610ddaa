"""Breaks text into lines of a width, where a person would: a date, or a number and its unit, stays whole."""

import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

PHRASE = re.compile(
    r"\S*\d{4}-\d\d-\d\d \d\d:\d\d\S*"  # a date and its time
    r"|\S*\b\d+(?:\.\d+)? (?:d|h|min|s|MB|%)(?![\w/])(?: \d+ (?:h|min|s)(?!\w))?\S*"
    r"|`[^`]*`\S*"  # a command to be typed
    r"|\S+"
)


def wrap_text(text: str, width: int) -> list[str]:
    """At least one line; words that are longer than a line are broken anywhere, all others at spaces only."""
    lines: list[str] = []
    for word in _whole(text, width):
        if lines and width_of(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines += _pieces(word, width)
    return lines or [""]


def width_of(text: str) -> int:
    """Columns that it takes on a terminal: characters of East Asia take two, accents of their own none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    return 0 if category(char) in ("Mn", "Me") else 2 if east_asian_width(char) in "WF" else 1


def _whole(text: str, width: int) -> Iterator[str]:
    """What stays together, where it has room."""
    for phrase in PHRASE.findall(text):
        yield from [phrase] if width_of(phrase) <= width else phrase.split()


def _pieces(word: str, width: int) -> list[str]:
    """The word, cut where it is longer than a line."""
    pieces = [""]
    for char in word:
        if pieces[-1] and width_of(pieces[-1] + char) > width:
            pieces.append("")
        pieces[-1] += char
    return pieces
