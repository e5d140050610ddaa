"""What a terminal can show: whether commands may draw on it."""

import os
from typing import TextIO


def may_draw(stream: TextIO) -> bool:
    """Whether escape sequences (colours, moves of the cursor) may be written to `stream`.

    Not in a pipe or a file, nor on a terminal whose TERM is dumb, nor where NO_COLOR is set to anything.
    """
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
