"""Tables and fields for people: on a terminal they fit its width, and nothing in them is cut.

In a pipe or a file all columns are always there, each as wide as it has to be.
"""

import re
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from cigri.cli.command import escape_text
from cigri.cli.text_wrapping import width_of, wrap_text

COLUMN_GAP = "  "
INDENT = "    "
LEAST_WIDTH = 10  # columns that prose needs beside others
LONG_WORD = 20  # what is longer may be broken anywhere
MOST_CELL_LINES = 3  # of prose in its column; what takes more stands beneath its row
SILENT = (None, "", 0, "none")  # a column that holds nothing else says nothing
IS_NUMBER = re.compile(r"-?\d+(\.\d+)?%?")


class TableColumn(NamedTuple):
    """`is_prose`: its text may go on in the next line, as names and messages do; numbers and dates stay whole."""

    title: str
    cells: Sequence[str]
    is_prose: bool

    @property
    def longest(self) -> int:
        """Columns of a terminal that its longest cell takes on one line; 0 when there is none."""
        return max(map(width_of, self.cells), default=0)

    @property
    def widest(self) -> int:
        """Columns of a terminal that its cells and its title take with nothing broken."""
        return max(self.longest, width_of(self.title))

    @property
    def least(self) -> int:
        """With its title, and prose, on several lines."""
        words = (width_of(word) for cell in self.cells for word in cell.split())
        broken = max(LEAST_WIDTH, -(-self.longest // MOST_CELL_LINES), min(max(words, default=0), LONG_WORD))
        return max(*map(width_of, self.title.split()), min(self.longest, broken) if self.is_prose else self.longest)

    @property
    def is_number(self) -> bool:
        """Whether each cell that is not empty is a number or a percentage: a terminal shows it to the right then."""
        return all(IS_NUMBER.fullmatch(cell) for cell in self.cells if cell)


def print_table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    prose: Collection[str] = (),
    headerless: bool = False,
) -> None:
    """None is an empty cell; the columns of `prose`, by their headers, may be broken on a terminal."""
    if sys.stdout.isatty():
        lines = fitted(headers, rows, terminal_width(), prose=prose, headerless=headerless)
    else:
        lines = _aligned(headers, rows, headerless)
    for line in lines:
        print(line)


def print_fields(fields: Iterable[tuple[str, object]]) -> None:
    """A line each, or several on a terminal; the unknown ones left out."""
    shown = [(name, escape_text(str(value))) for name, value in fields if value is not None and value != ""]
    indent = max(len(name) for name, _ in shown) + 2
    for name, value in shown:
        lines = wrap_text(value, max(terminal_width() - indent, LEAST_WIDTH)) if sys.stdout.isatty() else [value]
        print(f"{name + ':':{indent}}" + f"\n{'':{indent}}".join(lines))


def terminal_width() -> int:
    """In columns; $COLUMNS goes first, and where nothing is known it is 80."""
    return shutil.get_terminal_size().columns


def fitted(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    width: int,
    *,
    prose: Collection[str] = (),
    headerless: bool = False,
) -> list[str]:
    """Lines of at most this width: columns that say nothing go; what has no room stands in words beneath its row."""
    columns = [
        TableColumn(title, [_one_line(row[i]) for row in rows], title in prose)
        for i, title in enumerate(headers)
        if i == 0 or not rows or any(row[i] not in SILENT for row in rows)
    ]
    widths = _widths(columns, width)
    beside, beneath = columns[: len(widths)], columns[len(widths) :]
    lines: list[str] = []
    if not headerless:
        lines += _row(beside, [column.title for column in beside], widths)
        lines.append(COLUMN_GAP.join("-" * width for width in widths))
    for i in range(len(rows)):
        lines += _row(beside, [column.cells[i] for column in beside], widths)
        lines += _words([(column, column.cells[i]) for column in beneath if column.cells[i]], width)
    return lines


def _widths(columns: Sequence[TableColumn], width: int) -> list[int]:
    """Of the columns that have room beside each other, the first one in any case."""
    widest = [column.widest for column in columns]
    if _sum(widest) <= width:
        return widest
    widths = [min(columns[0].least, width)]
    for column in columns[1:]:
        if _sum([*widths, column.least]) > width:
            break
        widths.append(column.least)
    for i in range(len(widths)):
        widths[i] += max(0, min(widest[i] - widths[i], width - _sum(widths)))
    return widths


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + len(COLUMN_GAP) * (len(widths) - 1)


def _row(columns: Sequence[TableColumn], texts: Sequence[str], widths: Sequence[int]) -> list[str]:
    """As many lines as the longest of its cells takes."""
    cells = [wrap_text(text, width) for text, width in zip(texts, widths, strict=True)]
    lines = zip_longest(*cells, fillvalue="")
    return [COLUMN_GAP.join(map(_justified, columns, line, widths)).rstrip() for line in lines]


def _justified(column: TableColumn, text: str, width: int) -> str:
    return " " * (width - width_of(text)) + text if column.is_number else _padded(text, width)


def _words(cells: Sequence[tuple[TableColumn, str]], width: int) -> list[str]:
    """Each with its title; what is long in lines of its own, behind the others."""
    room = max(width - len(INDENT), LEAST_WIDTH)
    lines: list[str] = []
    long = [column.is_prose and column.longest > room // 2 for column, _ in cells]
    for (column, text), is_long in zip(cells, long, strict=True):
        words = f"{column.title[:1].lower()}{column.title[1:]} {text}"
        if lines and not is_long and width_of(f"{lines[-1]}, {words}") <= room:
            lines[-1] += f", {words}"
        elif not is_long:
            lines += wrap_text(words, room)
    for (column, text), is_long in zip(cells, long, strict=True):
        lines += wrap_text(f"{column.title}: {text}", room) if is_long else []
    return [INDENT + line for line in lines]


def _aligned(headers: Sequence[str], rows: Sequence[Sequence[object]], headerless: bool) -> list[str]:
    heads = [] if headerless else [list(headers)]
    lines = [*heads, *([_one_line(value) or "-" for value in row] for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*lines, strict=True)]
    return [COLUMN_GAP.join(map(_padded, line, widths)).rstrip() for line in lines]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _one_line(value: object) -> str:
    return "" if value is None else " ".join(escape_text(str(value)).split())
