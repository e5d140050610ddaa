"""A word of a command as it reaches a cluster: literal text, which no shell ever interprets, perhaps below the home."""

import re
import shlex
from typing import NamedTuple


class ShellWord(NamedTuple):
    """Literal text; `at_home` puts the user's home on the cluster before it (it starts with "/" or is empty)."""

    text: str
    at_home: bool = False

    def quoted(self) -> str:
        """sh text that yields exactly this word."""
        if not self.at_home:
            return shlex.quote(self.text)
        return '"$HOME"' + (shlex.quote(self.text) if self.text else "")


# A file that a task is to bring, or a pattern of such files, relative to where the task runs.

WILDCARD = re.compile(r"[*?[]")


class OutputPattern(NamedTuple):
    """`is_name`: `text` is the name itself, which must be there; else what it matches is brought, if anything."""

    text: str
    is_name: bool


def literal(text: str) -> str:
    """A pattern that matches this text only, but that shells disagree about a backslash: any character will do."""
    return WILDCARD.sub(lambda character: f"[{character[0]}]", text).replace("\\", "?")
