"""The table of figures: its rows, as Markdown, and where it stands in the documentation."""

import os
import platform
import re
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tests.bench import history

BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
COLUMNS = ("what", "figure", "beside", "ratio", "load", "measured, UTC", "commit")
HEAD = f"| {' | '.join(COLUMNS)} |\n| {' | '.join('---' for _ in COLUMNS)} |\n"
SHORT_HEAD = "| what | figure | beside |\n| --- | --- | --- |\n"
CONDITIONS = re.compile(r" \([^)]*\)")
OLDER = "before a change of what it measures"


class Row(NamedTuple):
    """One figure; `beside` is a rival's figure of the same run or a limit, `ratio` ours to it.

    `commit`: on which it was measured, and whether what it measures has changed since.
    """

    what: str
    figure: str
    beside: str
    ratio: str
    load: str
    at: str
    commit: str = ""

    @property
    def subject(self) -> str:
        """What was measured, in one run."""
        return self.what.partition(":")[0]


def row(what: str, figure: str, beside: str = "", ratio: str = "") -> Row:
    """A figure with the load average of now."""
    load, now = f"{os.getloadavg()[0]:.1f}", f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    return Row(what, figure, beside, ratio, load, now, history.present())


def render(rows: Sequence[Row]) -> str:
    """Markdown; above it on what it was measured."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    about = f"Measured on {machine}, files on {_filesystem(tempfile.gettempdir())}."
    lines = [f"| {' | '.join(one)} |\n" for one in rows]
    return f"{about} Load: the 1-minute average at the end of each.\n\n{HEAD}{''.join(lines)}"


def write(rows: Sequence[Row], file: Path) -> list[Row]:
    """Put the rows into the table between the marks of the file, and give back all that stand there then.

    Rows of the same subjects are replaced, the others stay; those older than a change of what they measure are marked.
    """
    before, table, after = _parts(file)
    all_rows = list(map(_marked, _merged(_rows(table), rows)))
    file.write_text(f"{before}{BEGIN}\n{render(all_rows)}{END}{after}")
    return all_rows


def write_short(rows: Sequence[Row], file: Path) -> None:
    """Put what people in a hurry read of these rows between the marks of the file, instead of what is there."""
    before, _, after = _parts(file)
    lines = [f"| {CONDITIONS.sub('', one.what)} | {one.figure} | {one.beside} |\n" for one in rows]
    file.write_text(f"{before}{BEGIN}\n{SHORT_HEAD}{''.join(lines)}{END}{after}")


def _parts(file: Path) -> tuple[str, str, str]:
    before, begin, rest = file.read_text().partition(BEGIN)
    table, end, after = rest.partition(END)
    assert begin, f"{file} has no place for a table: no {BEGIN}"
    assert end, f"{file} has no end of its table: no {END}"
    return before, table, after


def _rows(table: str) -> list[Row]:
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [Row(*(cell.strip() for cell in line.strip()[1:-1].split("|"))) for line in lines[2:]]


def _marked(row: Row) -> Row:
    commit = row.commit.partition(",")[0] or history.at(row.at) or "unknown"
    return row._replace(commit=f"{commit}, {OLDER}" if history.is_older(row.subject, commit) else commit)


def _merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    fresh = {subject: list(rows) for subject, rows in groupby(new, key=lambda one: one.subject)}
    merged: list[Row] = []
    for subject, rows in groupby(old, key=lambda one: one.subject):
        merged += fresh.pop(subject, []) or list(rows)
    return merged + [one for rows in fresh.values() for one in rows]


def _filesystem(path: str) -> str:
    """Its kind, e.g. ext4."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    return max((len(place), kind) for place, kind in mounts if Path(path).is_relative_to(place))[1]
