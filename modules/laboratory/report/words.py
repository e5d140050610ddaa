"""Figures as a person reads them, and names as HTML may hold them."""

import re
from html import escape
from math import inf
from typing import NamedTuple

NOTHING = "\N{EN DASH}"
NARROW = "\N{NARROW NO-BREAK SPACE}"

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold


class _Unit(NamedTuple):
    """A unit of time, the one that its remainder is in, and the time from which the next unit is better."""

    name: str
    seconds: int
    part_name: str
    part: int
    limit: float


_UNITS = (
    _Unit("min", 60, "s", 1, 3600),
    _Unit("h", 3600, "min", 60, 86400),
    _Unit("d", 86400, "h", 3600, inf),
)


def escaped(text: str) -> str:
    """For text and for attributes; what no document may hold becomes the sign of a missing character."""
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.2f}{NARROW}%"


def number(value: float | None, digits: int = 3) -> str:
    """Grouped by thousands; a whole number as it is, others with so many digits behind the point."""
    if value is None:
        return NOTHING
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{digits}f}"
    return text.replace(",", NARROW)


def times(factor: float | None) -> str:
    return NOTHING if factor is None else f"\N{MULTIPLICATION SIGN}{NARROW}{factor:.3f}"


def core_hours(core_seconds: float) -> str:
    return f"{number(round(core_seconds / 3600, 1), 1)}{NARROW}core-h"


def duration(seconds: float | None) -> str:
    """Two units at most: `3 d 4 h`, `12 min 5 s`, `8.25 s`."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{number(round(seconds, 2), 2)}{NARROW}s"
    found = next(unit for unit in _UNITS if round(seconds / unit.part) * unit.part < unit.limit)
    whole, rest = divmod(round(seconds / found.part), found.seconds // found.part)
    return f"{number(whole)}{NARROW}{found.name}" + (f" {rest}{NARROW}{found.part_name}" if rest else "")
