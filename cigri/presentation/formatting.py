"""How times, durations, rates and parameters are written for people."""

import json
import re
import shlex
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from cigri.api_models.simulations import CampaignSimulationView
from cigri.formats.units import DAY, HOUR, MINUTE, SIZES, as_duration, as_local
from cigri.states import CampaignState

if TYPE_CHECKING:
    from cigri.api_models.campaigns import CampaignView

STATE_LETTERS = {
    CampaignState.IN_TREATMENT: "R",
    CampaignState.TERMINATED: "T",
    CampaignState.CANCELLED: "C",
}
LONGEST_WORDS = 200
LIKE_ANOTHER_VALUE = re.compile(r"""(true|false|-?\d+(\.\d+)?)?|.*[\s"'=].*""", re.DOTALL)


def format_time(time: datetime | None) -> str | None:
    """In the time zone of the reader; None of nothing."""
    return as_local(time) if time else None


def format_duration(seconds: float | None) -> str | None:
    """In the two largest units; None of nothing."""
    return None if seconds is None else as_duration(seconds)


RELATIVE_UNITS = ((DAY, "day"), (HOUR, "hour"), (MINUTE, "min"))


def format_relative(seconds: float) -> str:
    """How long ago it was, or in how long it will be where `seconds` are negative: `3 min ago`, `in 2 hours`."""
    for length, unit in RELATIVE_UNITS:
        if number := int(abs(seconds) // length):
            words = f"{number} {unit}" if unit == "min" else format_count(number, unit)
            return f"{words} ago" if seconds > 0 else f"in {words}"
    return "just now" if seconds > -1 else "in less than 1 min"


def format_rate(per_hour: float | None) -> str | None:
    """Tasks per hour; small ones with a decimal."""
    if per_hour is None:
        return None
    return f"{per_hour:.0f}" if per_hour >= 100 else f"{per_hour:.1f}"


def format_size(number: float) -> str:
    """Bytes, in the largest unit that there is one of, as `1.5 MB`."""
    unit = max((unit for unit in SIZES if SIZES[unit] <= number), key=SIZES.__getitem__, default="B")
    return f"{number / SIZES[unit]:.1f} {unit}" if unit != "B" else f"{number:.0f} B"


def format_percent(part: int, whole: int) -> str | None:
    """Rounded down, as `12%`; None where there is nothing to have a share of."""
    return f"{part * 100 // whole}%" if whole else None


def format_mean(number: float) -> str:
    """A mean to a hundredth, as short as it can be: `7`, `1,024.5`."""
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def format_count(number: int, noun: str) -> str:
    """A number of things: `1 task`, `2,062 tasks`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def collecting(c: "CampaignView") -> str:
    """What has come of the outputs that come by themselves, and what has not."""
    facts = [f"{c.collected} of {c.collected + c.uncollected + c.lost} collected"]
    facts += [f"{format_size(c.uncollected_bytes)} to come"] if c.uncollected else []
    facts += [f"{c.lost} given up"] if c.lost else []
    return ", ".join(facts)


def parameter_words(parameter: object) -> str:
    """As it was given: `seed=1 model=a` where it has names, words as a shell needs them where it is a list.

    Nothing of None: it is not the reader's.
    """
    if parameter is None:
        return ""
    if isinstance(parameter, dict):
        return " ".join(f"{name}={_value(value)}" for name, value in parameter.items())
    return shlex.join(parameter) if isinstance(parameter, list) else str(parameter)


def shortened(text: str, longest: int = LONGEST_WORDS) -> str:
    """On one line; on a terminal its beginning, where it is very long: what goes into a pipe is whole."""
    text = " ".join(text.split())
    return text if len(text) <= longest or not sys.stdout.isatty() else text[: longest - 1] + "…"


def _value(value: object) -> str:
    """A text that would not be told from a number, or from what stands beside it, is in quotes."""
    is_plain = isinstance(value, str) and not LIKE_ANOTHER_VALUE.fullmatch(value)
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


# How what the laboratory foretells is written for people.

NEVER_ENDS = "never, as the grid stands: no simulation came to its end"

NOT_KNOWN = "not known: time was over when hardly a task was done (is this host busy?)"


def no_end(campaign: CampaignSimulationView) -> str:
    """Why there is no date of one that is not expected to end."""
    return NOT_KNOWN if campaign.cut else NEVER_ENDS


def how_simulated(campaign: CampaignSimulationView) -> str:
    """How often, and how coarsely."""
    cut = f", {campaign.cut} of them cut short" if campaign.cut else ""
    cut += f", {campaign.unfinished} without an end" if campaign.unfinished else ""
    small = f", a grid {campaign.cores:.1f} times smaller" if campaign.cores > 1 else ""
    together = f", {campaign.together} tasks as one" if campaign.together > 1 else ""
    return f"{campaign.runs} times{cut}{small}{together}"
