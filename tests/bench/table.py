"""The table of figures: its rows, as Markdown, and where it stands in the documentation."""

import os
import platform
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
HEAD = "| what | figure | beside | ratio | load |\n| --- | --- | --- | --- | --- |\n"


class Row(NamedTuple):
    """One figure; `beside` is a rival's figure of the same run or a limit, `ratio` ours to it."""

    what: str
    figure: str
    beside: str
    ratio: str
    load: float


def row(what: str, figure: str, beside: str = "", ratio: str = "") -> Row:
    """A figure with the load average of now."""
    return Row(what, figure, beside, ratio, os.getloadavg()[0])


def render(rows: Sequence[Row]) -> str:
    """Markdown; above it when and on what it was measured."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    about = f"Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {machine}, files on {_filesystem(tempfile.gettempdir())}"
    lines = [f"| {one.what} | {one.figure} | {one.beside} | {one.ratio} | {one.load:.1f} |\n" for one in rows]
    return f"{about}. Load: the 1-minute average at the end of each.\n\n{HEAD}{''.join(lines)}"


def write(text: str, files: Sequence[Path]) -> list[Path]:
    """Put the table between the marks of each file that has them; give those files."""
    written = []
    for file in files:
        before, begin, rest = file.read_text().partition(BEGIN) if file.exists() else ("", "", "")
        _, end, after = rest.partition(END)
        if begin and end:
            file.write_text(f"{before}{BEGIN}\n{text}{END}{after}")
            written.append(file)
    return written


def _filesystem(path: str) -> str:
    """Its kind, e.g. ext4."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    return max((len(place), kind) for place, kind in mounts if Path(path).is_relative_to(place))[1]
