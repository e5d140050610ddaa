"""Text that came from jobs, users and clusters, as a terminal or a reader of logs may see it.

Spelled out is what steers a terminal or turns text around: control characters (C0 and C1), bidirectional ones, others
that are not printed.
"""

import json
import logging
import re

NEWLINE = r"\n"
LONGEST_EXCERPT = 600  # characters of what a command has said
NOT_PRINTED = re.compile(r"[^\n\t -~]")


def escape_text(text: str) -> str:
    """Newlines and tabs stay as they are."""
    return NOT_PRINTED.sub(lambda odd: odd[0] if odd[0].isprintable() else ascii(odd[0])[1:-1], text)


def escape_line(text: str) -> str:
    """As `escape_text`, with newlines and tabs spelled out as well."""
    return escape_text(text.replace("\n", NEWLINE).replace("\t", r"\t"))


def excerpt(text: str, most: int = LONGEST_EXCERPT) -> str:
    """The beginning and the end of what a command has said, for the cause often stands first, and the effect last."""
    said, half = text.strip(), (most - 5) // 2
    return said if len(said) <= most else f"{said[:half]} ... {said[-half:]}"


def safe_json(text: str) -> str:
    """JSON with the same meaning, in which what steers a terminal is escaped."""
    return NOT_PRINTED.sub(lambda odd: odd[0] if odd[0].isprintable() else json.dumps(odd[0])[1:-1], text)


class EscapingFormatter(logging.Formatter):
    """What jobs wrote is quoted in the log, and people look at logs on terminals."""

    def format(self, record: logging.LogRecord) -> str:
        return escape_text(super().format(record))


# Paths that come from clusters, and are to lie below a directory.


def leads_below(path: bytes) -> bool:
    """Is it a path below a directory, and nothing else?"""
    return b"\0" not in path and not {b"", b".", b".."} & set(path.split(b"/"))


# What Python prints of an exception, for people who did not write the program.

TRACEBACK = "Traceback (most recent call last):"


def exception_line(error: str) -> str:
    """Of a traceback the line that names the exception; what may follow it are details."""
    last = error.rpartition(TRACEBACK)[2]
    return next((line for line in last.splitlines() if line.strip() and not line[0].isspace()), "")
