"""A file that a task is to bring, or a pattern of such files, relative to where the task runs."""

import re
from typing import NamedTuple

WILDCARD = re.compile(r"[*?[]")


class WantedFile(NamedTuple):
    """`is_name`: `text` is the name itself, which must be there; else what it matches is brought, if anything."""

    text: str
    is_name: bool


def literal(text: str) -> str:
    """A pattern that matches this text only, but that shells disagree about a backslash: any character will do."""
    return WILDCARD.sub(lambda character: f"[{character[0]}]", text).replace("\\", "?")
