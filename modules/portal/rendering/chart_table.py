"""Figures over time as the table that they are on a page; a script draws a chart of it. Pure."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from itertools import dropwhile
from typing import NamedTuple
from urllib.parse import quote

MOST_SERIES = 8
"""More cannot be told apart."""


class ChartKind(StrEnum):
    """How a script draws the figures: lines, areas that stand on each other, or instants."""

    LINES = "lines"
    STACK = "stack"
    ENDS = "ends"


ChartValue = float | datetime | None
"""None: nothing is known; the chart has a gap there."""


class ChartSeries(NamedTuple):
    """A column of figures; `kind` names its colour in style.css, `link` is the page of what it tells about."""

    kind: str
    name: str
    link: str = ""


class ChartRow(NamedTuple):
    """The values of all series at an instant."""

    at: datetime
    values: tuple[ChartValue, ...]


class ChartTable(NamedTuple):
    """A chart; `name` is unique in its page.

    `top`: a value that the axis reaches at least. `end`: the instant that the values of ENDS foretold, if it has come.
    """

    name: str
    kind: ChartKind
    title: str
    unit: str
    series: list[ChartSeries]
    rows: list[ChartRow]
    top: int = 0
    end: datetime | None = None


def cluster_series(clusters: Sequence[str]) -> list[ChartSeries]:
    """Return a series for each cluster, with a colour of its own."""
    return [ChartSeries(f"c{place}", name, f"/clusters/{quote(name, safe='')}") for place, name in enumerate(clusters)]


def largest_series(columns: dict[str, list[float | None]]) -> tuple[list[ChartSeries], list[tuple[float | None, ...]]]:
    """Return the clusters with the largest sums, in the order given, the others as one series, and their rows."""
    ranked = sorted(columns, key=lambda name: -sum(filter(None, columns[name])))
    kept = set(ranked[: MOST_SERIES - 1] if len(ranked) > MOST_SERIES else ranked)
    shown = {name: column for name, column in columns.items() if name in kept}
    series, rows = cluster_series(list(shown)), list(zip(*shown.values(), strict=True))
    if len(kept) == len(columns):
        return series, rows
    others = zip(*(column for name, column in columns.items() if name not in kept), strict=True)
    series.append(ChartSeries(f"c{len(kept)}", f"{len(columns) - len(kept)} others"))
    return series, [(*row, _sum(rest)) for row, rest in zip(rows, others, strict=True)]


def without_empty_ends(rows: Sequence[ChartRow]) -> list[ChartRow]:
    """Return the rows from the first to the last one with a value other than 0, and the next one, where it ends."""
    begun = list(dropwhile(_is_empty, rows))
    last = max((place for place, row in enumerate(begun) if not _is_empty(row)), default=-1)
    return begun[: last + 2]


def _is_empty(row: ChartRow) -> bool:
    return not any(row.values)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
