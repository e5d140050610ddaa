"""Figures as a person reads them: rounded, grouped by thousands, with their unit; None, no figure, is a dash."""

import re
from html import escape

from cigri.formats.units import HOUR, as_duration

NO_FIGURE = "\N{EN DASH}"
NARROW = "\N{NARROW NO-BREAK SPACE}"


def percent(share: float | None) -> str:
    """Of a share, 1.0 being the whole: 0.5 becomes 50.00 %."""
    return NO_FIGURE if share is None else f"{100 * share:.2f}{NARROW}%"


def number(value: float | None, digits: int = 3) -> str:
    """Grouped by thousands; a whole number as it is, others with so many digits behind the point."""
    if value is None:
        return NO_FIGURE
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{digits}f}"
    return text.replace(",", NARROW)


def times(factor: float | None) -> str:
    """A multiplication sign and the factor, to three digits behind the point."""
    return NO_FIGURE if factor is None else f"\N{MULTIPLICATION SIGN}{NARROW}{factor:.3f}"


def core_hours(core_seconds: float) -> str:
    """Core-seconds in core-hours, to a tenth."""
    return f"{number(round(core_seconds / HOUR, 1), 1)}{NARROW}core-h"


def duration(seconds: float | None) -> str:
    """Two units at most; a number and its unit stay on one line."""
    return NO_FIGURE if seconds is None else re.sub(r"(?<=\d) ", NARROW, as_duration(seconds))


# Names and other text of users, as HTML and SVG may hold them.

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold


def escaped(text: str) -> str:
    """For text and for attributes; what no document may hold becomes the sign of a missing character."""
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
