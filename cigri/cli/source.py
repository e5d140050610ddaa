"""What a command is given to read: a file, standard input, or a text of its own line."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cigri.errors import DescriptionError, Problem

if TYPE_CHECKING:
    from cigri.jdl import Format


class Source(NamedTuple):
    """Text as it was given: a file's name ("-" is standard input), or the JSON itself."""

    is_file: bool
    given: str

    @property
    def name(self) -> str:
        if not self.is_file:
            return "JSON of the command line"
        return "standard input" if self.given == "-" else self.given

    def text(self) -> str:
        """Raise DescriptionError when it cannot be read."""
        from cigri.jdl.files import open_file, read_text

        if not self.is_file:
            return self.given
        try:
            if self.given == "-":
                return read_text(sys.stdin.buffer)
            with open_file(Path(self.given)) as stream:
                return read_text(stream)
        except OSError as error:
            raise DescriptionError([Problem("the file", f"cannot be read: {error.strerror}")]) from None
        except UnicodeDecodeError as error:
            raise DescriptionError([Problem("the file", f"is not UTF-8 text (byte {error.start})")]) from None

    def format(self) -> "Format | None":
        """By the file's name; None: by its content."""
        from cigri.jdl import format_of

        return format_of(self.given) if self.is_file else "json"
