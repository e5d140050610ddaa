"""What has come so far, and what has not: told on a terminal while it comes, and in the end."""

import sys
import time

from cigri.cli.terminal import may_draw
from cigri.presentation.formatting import format_size

CLEAR_LINE = "\x1b[K"  # from the cursor on
BLANK_TAIL = 10 * " "
TOLD_AGAIN = 0.5  # seconds between two lines on a terminal


class DownloadProgress:
    """`had`: was here already; `absent`: is not on the cluster any more; `wrong`: sentences."""

    def __init__(self) -> None:
        self.files = self.empty = self.bytes = self.had = self.absent = 0
        self.wrong: list[str] = []
        self._begun = self._told = time.monotonic()

    def begin_again(self) -> None:
        """Another look at all of it: what was not right before perhaps is now."""
        self.had = self.empty = self.absent = 0
        self.wrong.clear()

    def add(self, content: bytes) -> None:
        """A piece has come."""
        self.bytes += len(content)
        if sys.stderr.isatty() and time.monotonic() - self._told > TOLD_AGAIN:
            self._told = time.monotonic()
            rest = CLEAR_LINE if may_draw(sys.stderr) else BLANK_TAIL  # over what a longer summary left
            print(f"\r{self.summary}{rest}", end="", file=sys.stderr, flush=True)

    @property
    def summary(self) -> str:
        seconds = time.monotonic() - self._begun
        return (
            f"{self.files} files, {format_size(self.bytes)} in {seconds:.1f} s ({format_size(self.bytes / seconds)}/s)"
        )
