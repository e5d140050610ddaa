"""What a command is given to read: a file, standard input, or a text of its own line."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cigri.errors import DescriptionError, Problem

if TYPE_CHECKING:
    from cigri.inputs.reading import ReadInput
    from cigri.jdl import Format


class Handed:
    """A description as it is handed over: all that is its user's is read. Iterated, it gives what is sent: the
    description, then the parameters that stand beside it, again and again."""

    def __init__(
        self, name: str, described: object, beside: Iterable[object], inputs: Sequence["ReadInput"] = ()
    ) -> None:
        self.name, self.described, self.beside, self.inputs = name, described, beside, inputs

    def __iter__(self) -> Iterator[object]:
        return chain([self.described], self.beside)


class Source(NamedTuple):
    """Text as it was given: a file's name ("-" is standard input), or the JSON itself."""

    is_file: bool
    given: str

    @property
    def name(self) -> str:
        """What complaints about it begin with: the file's name as typed, or what it is in words."""
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

    def handed(self) -> Handed:
        """Raise DescriptionError when it, or the file of parameters that it names, cannot be read."""
        from cigri.inputs.reading import read_inputs
        from cigri.jdl.files import FileLines
        from cigri.jdl.reading import param_file, read_description, without_params

        described, base = read_description(self.text(), self.format()), Path(self.given).parent
        base = base if self.is_file else Path()
        lines = param_file(described, base, Path.home())
        described, inputs = read_inputs(described, base)
        if not isinstance(lines, FileLines):
            return Handed(self.name, *without_params(described), inputs)
        if not lines.can_be_read_again:
            return Handed(self.name, described, list(lines), inputs)
        next(iter(lines), None)
        return Handed(self.name, described, lines, inputs)

    def parameters(self) -> list[object]:
        """Raise DescriptionError when it is no list of them."""
        from cigri.jdl.syntax import read_list

        return read_list(self.text(), self.format())
