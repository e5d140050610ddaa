"""Core-hours of jobs that ended, as a table with its sum, and as CSV; pure."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from cigri.api_models.metrics import UsedWork
from cigri.formats.units import HOUR

GROUPINGS = {
    "user,cluster": "user and cluster",
    "user": "user",
    "project": "project",
    "project,user": "project and user",
    "project,cluster": "project and cluster",
    "cluster": "cluster",
    "type": "type of job",
    "day": "day",
}
"""What may be chosen of what the endpoint tells apart, and how it is called."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What begins a formula in a spreadsheet; users choose the names of their projects."""


class CoreHourRow(NamedTuple):
    """Core-hours of what has these names, in the order of the groups; `asked`: by the walltimes of the jobs."""

    names: tuple[str, ...]
    jobs: int
    well: float
    failed: float
    lost: float
    replicas: float
    asked: float

    @property
    def used(self) -> float:
        """All of them."""
        return self.well + self.failed + self.lost + self.replicas


def list_core_hours(used: Iterable[UsedWork], groups: Sequence[str]) -> list[CoreHourRow]:
    """Who used most first; days in their order."""
    rows = [_row(work, tuple(_name(getattr(work, group)) for group in groups)) for work in used]
    return rows if "day" in groups else sorted(rows, key=lambda row: (-row.used, row.names))


def sum_up(rows: Sequence[CoreHourRow]) -> CoreHourRow:
    """All rows together, without names."""
    numbers = [row[1:] for row in rows]
    jobs, *hours = map(sum, zip(*numbers, strict=True)) if rows else [0] * 6
    return CoreHourRow((), round(jobs), *hours)


def write_core_hours(rows: Iterable[CoreHourRow], groups: Sequence[str]) -> str:
    """CSV, a row a line, below the names of its columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*groups, *CoreHourRow._fields[1:]])
    writer.writerows([*map(_cell, row.names), row.jobs, *(f"{hours:.2f}" for hours in row[2:])] for row in rows)
    return text.getvalue()


def _row(work: UsedWork, names: tuple[str, ...]) -> CoreHourRow:
    hours = (work.well / HOUR, work.failed / HOUR, work.lost / HOUR, work.replicas / HOUR, work.asked / HOUR)
    return CoreHourRow(names, work.jobs, *hours)


def _name(value: object) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%d}" if isinstance(value, datetime) else str(value or "")


def _cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(FORMULA) else name
