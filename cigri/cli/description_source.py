"""What a command is given to read: a file, standard input, or a text of its own line."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cigri.errors import DescriptionError, DescriptionProblem

if TYPE_CHECKING:
    from cigri.cli.sending_inputs import Sendable
    from cigri.jdl import Format


class PreparedSubmission:
    """A description as it is handed over: all that is its user's is read. Iterated, it gives what is sent: the
    description, then the parameters that stand beside it, again and again."""

    def __init__(
        self,
        name: str,
        described: object,
        beside: Iterable[object],
        inputs: Sequence["Sendable"] = (),
        notes: Sequence[str] = (),
        base: Path = Path(),
    ) -> None:
        """`notes`: what its user is to know of how it was read."""
        self.name, self.described, self.beside, self.inputs = name, described, beside, inputs
        self.notes, self.base = notes, base

    def __iter__(self) -> Iterator[object]:
        return chain([self.described], self.beside)


class DescriptionSource(NamedTuple):
    """Text as it was given: a file's name ("-" is standard input), or the JSON itself. `label`: what that is called."""

    is_file: bool
    given: str
    label: str = ""

    @property
    def name(self) -> str:
        """What complaints about it begin with: the file's name as typed, or what it is in words."""
        if not self.is_file:
            return self.label or "JSON of the command line"
        return "standard input" if self.given == "-" else self.given

    def text(self) -> str:
        """Raise DescriptionError when it cannot be read."""
        from cigri.jdl.parameter_files import open_file, read_text

        if not self.is_file:
            return self.given
        try:
            if self.given == "-":
                return read_text(sys.stdin.buffer)
            with open_file(Path(self.given)) as stream:
                return read_text(stream)
        except OSError as error:
            raise DescriptionError([DescriptionProblem("the file", f"cannot be read: {error.strerror}")]) from None
        except UnicodeDecodeError as error:
            raise DescriptionError(
                [DescriptionProblem("the file", f"is not UTF-8 text (byte {error.start})")]
            ) from None

    def format(self) -> "Format | None":
        """By the file's name; None: by its content."""
        from cigri.jdl import format_of

        return format_of(self.given) if self.is_file else "json"

    @property
    def base(self) -> Path:
        """Where relative paths in it begin."""
        return Path(self.given).parent if self.is_file else Path()

    def handed(self) -> list[PreparedSubmission]:
        """One, or as many as it has stages.

        Raise DescriptionError when it, or a file of parameters that it names, cannot be read.
        """
        from cigri.jdl.stages import stages_of

        described, notes = self._read()
        stages = stages_of(described)
        if not stages:
            return [self._handed(self.name, described, notes)]
        return [self._handed(f"{self.name}, {stage['name']}", stage) for stage in stages]

    def _read(self) -> tuple[object, list[str]]:
        """The description; in JSON it may be one of CiGri 3's, which is read as that did, with what is to be known."""
        from cigri.jdl.parsing import read_description

        text, format = self.text(), self.format()
        if format == "json" or (format is None and text.lstrip("\ufeff \t\r\n").startswith(("{", "/*", "//"))):
            from cigri.jdl.cigri3 import from_cigri3, looks_like_cigri3, read_cigri3

            described, notes = read_cigri3(text)
            if looks_like_cigri3(described) and isinstance(described, dict):
                converted = from_cigri3(described)
                return converted.fields, [*notes, *converted.notes]
        return read_description(text, format), []

    def _handed(self, name: str, described: object, notes: Sequence[str] = ()) -> PreparedSubmission:
        from cigri.inputs.reading import read_inputs
        from cigri.inputs.task_files import read_described
        from cigri.jdl.parsing import param_file, without_params
        from cigri.outputs.destination import resolve_destinations

        base = self.base
        lines = param_file(described, base, Path.home())
        described, inputs = read_inputs(resolve_destinations(described, base), base)
        beside: Iterable[object]
        if isinstance(lines, tuple):
            described, beside = without_params(described)
        elif lines.can_be_read_again:
            beside = lines
            lines.check()
        else:
            beside = list(lines)
        described, files = read_described(described, beside, base)
        return PreparedSubmission(name, described, beside, [*inputs, *files], notes, base)

    def parameters(self) -> list[object]:
        """Raise DescriptionError when it is no list of them."""
        from cigri.jdl.parameter_files import ParameterFileLines, is_table
        from cigri.jdl.parameter_tables import ParameterTable
        from cigri.jdl.text_formats import read_list

        if self.is_file and is_table(self.given):
            return [*ParameterTable(self.given, ParameterFileLines(Path(self.given)))]
        return read_list(self.text(), self.format())
