"""Tables of named parameters: each row of a CSV, TSV or JSON lines file is a task, and its columns have names."""

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from cigri.errors import DescriptionError, DescriptionProblem
from cigri.formats.machine_text import read_json
from cigri.jdl.parameter_files import JSON_LINES, NO_TABLE, TABLE_DELIMITERS, ParameterFileLines, ending
from cigri.jdl.parameters import fault_of_name, read_named
from cigri.jdl.problems import ProblemCounter
from cigri.jdl.sweep import SweepScalar

TableRow = dict[str, SweepScalar]
TableRowOrFault = tuple[int, TableRow, str]
"""The line where a row begins, the row, and what is wrong with it."""


@dataclass(frozen=True)
class ParameterTable:
    """The rows of a table, read anew each time; raise DescriptionError with all rows that are wrong, by their lines.

    `name`: as its user wrote it.
    """

    name: str
    lines: ParameterFileLines

    def __iter__(self) -> Iterator[TableRow]:
        problems: list[DescriptionProblem] = []
        faults = ProblemCounter(problems, "rows are wrong")
        kind = ending(self.name)
        for line, row, fault in self._objects() if kind in JSON_LINES else self._cells(TABLE_DELIMITERS[kind]):
            if fault:
                faults.add(f"{self.name} line {line}", fault)
            else:
                yield row
        faults.close(self.name)
        if problems:
            raise DescriptionError(problems)

    def check(self) -> None:
        """Raise DescriptionError where a row is wrong."""
        deque(self, maxlen=0)

    @property
    def can_be_read_again(self) -> bool:
        """A pipe gives its rows once."""
        return self.lines.can_be_read_again

    def _cells(self, delimiter: str) -> Iterator[TableRowOrFault]:
        """The first row names the columns. Blanks after a delimiter are no part of a value, unless it is quoted."""
        text = (line + "\n" for line in self.lines)
        reader = csv.reader(text, delimiter=delimiter, strict=True, skipinitialspace=delimiter == ",")
        names: list[str] = []
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                yield line, {}, f"is no row of a table: {error}"
                continue
            if not cells:
                continue
            if not names:
                names = [cell.strip() for cell in cells]
                self._check_names(line, names)
            elif len(cells) != len(names):
                yield line, {}, f"its cells are {len(cells)}, and the columns {len(names)}: {', '.join(names)}"
            else:
                row, fault = read_named(dict(zip(names, cells, strict=True)), tuple(names))
                yield line, row, fault
        if not names:
            raise DescriptionError([DescriptionProblem(self.name, "is empty: its first row names the columns")])

    def _objects(self) -> Iterator[TableRowOrFault]:
        """Each line is an object; all have the names of the first one."""
        names: tuple[str, ...] = ()
        for line, text in enumerate(self.lines, start=1):
            if not text.strip():
                continue
            try:
                found = read_json(text)
            except ValueError as error:
                yield line, {}, f"is no JSON: {error}"
                continue
            names = names or (tuple(found) if isinstance(found, dict) else ())
            row, fault = read_named(found, names)
            yield line, row, fault

    def _check_names(self, line: int, names: list[str]) -> None:
        place = f"{self.name} line {line}"
        wrong = [
            DescriptionProblem(place, f"the column {name!r}: {fault}", NO_TABLE)
            for name in dict.fromkeys(names)
            if (fault := "it is there twice" if names.count(name) > 1 else fault_of_name(name))
        ]
        if wrong:
            raise DescriptionError(wrong)
