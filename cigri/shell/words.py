"""A word of a command as it reaches a cluster: literal text, which no shell ever interprets, perhaps below the home."""

import shlex
from typing import NamedTuple


class Word(NamedTuple):
    """Literal text; `at_home` puts the user's home on the cluster before it (it starts with "/" or is empty)."""

    text: str
    at_home: bool = False

    def quoted(self) -> str:
        """sh text that yields exactly this word."""
        if not self.at_home:
            return shlex.quote(self.text)
        return '"$HOME"' + (shlex.quote(self.text) if self.text else "")
