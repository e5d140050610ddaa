"""How pages write times, durations and figures; a small script puts times in the reader's zone."""

from datetime import UTC, datetime
from urllib.parse import unquote

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from cigri.formats.units import DAY, as_size, split_instants
from cigri.formats.untrusted_text import escape_text
from cigri.presentation.cluster_status import told_skew
from cigri.presentation.formatting import (
    collecting,
    format_count,
    format_duration,
    format_mean,
    format_percent,
    format_rate,
    format_relative,
    how_simulated,
    no_end,
    parameter_words,
)
from modules.portal.rendering.campaign_row import state_badge

LONGEST_RELATIVE = 30 * DAY


def moment(time: datetime | None) -> Markup:
    """In UTC until a script has put it in the reader's zone; nothing of None."""
    if time is None:
        return Markup("")
    at = time.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(timespec="seconds"), f"{at:%Y-%m-%d %H:%M} UTC")


def instant(time: datetime) -> Markup:
    """Write a time to the second, for figures that may be seconds apart; milliseconds are for the script."""
    at = time.astimezone(UTC)
    exact = at.isoformat(timespec="milliseconds")
    return Markup('<time datetime="{}">{}</time>').format(exact, f"{at:%Y-%m-%d %H:%M:%S} UTC")


@pass_context
def ago(context: Context, time: datetime | None) -> Markup:
    """How long ago, or in how long, by the grid's clock; the exact time is in the title. Old times are dates."""
    if time is None:
        return Markup("")
    seconds = (context["clock"]() - time).total_seconds()
    if abs(seconds) > LONGEST_RELATIVE:
        return moment(time)
    at = time.astimezone(UTC)
    written = Markup('<time class="relative" datetime="{}" title="{}">{}</time>')
    return written.format(at.isoformat(timespec="seconds"), f"{at:%Y-%m-%d %H:%M:%S} UTC", format_relative(seconds))


def timed(sentence: str) -> Markup:
    """A sentence, with the instants in it as `moment` writes them."""
    parts = split_instants(sentence)
    return Markup("").join(escape(part) if isinstance(part, str) else moment(part) for part in parts)


def words(name: str | None) -> str:
    """A name of ours as people read it."""
    return (name or "").replace("_", " ")


def grouped(number: float) -> str:
    """A number as people read it, and as commands write it: 1,000,000; a mean to a hundredth."""
    return f"{number:,}" if isinstance(number, int) else format_mean(number)


def unquoted(path: str) -> str:
    """A path whose bytes are percent-encoded, as people read it."""
    return escape_text(unquote(path))


FILTERS = {
    "moment": moment,
    "instant": instant,
    "ago": ago,
    "timed": timed,
    "duration": format_duration,
    "rate": format_rate,
    "percent_of": format_percent,
    "parameter": parameter_words,
    "badge": state_badge,
    "collecting": collecting,
    "words": words,
    "grouped": grouped,
    "count": format_count,
    "how_simulated": how_simulated,
    "told_skew": told_skew,
    "no_end": no_end,
    "safe_text": escape_text,
    "size": as_size,
    "unquoted": unquoted,
}
