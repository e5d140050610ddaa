"""How times, durations, rates and parameters are written for people."""

import json
from collections.abc import Iterable
from datetime import datetime

from cigri.cli.command import safe
from cigri.states import CampaignState

LETTERS = {
    CampaignState.IN_TREATMENT: "R",
    CampaignState.PAUSED: "P",
    CampaignState.TERMINATED: "T",
    CampaignState.CANCELLED: "C",
}
UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def moment(time: datetime | None) -> str | None:
    """In the time zone of the reader."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S}" if time else None


def duration(seconds: float | None) -> str | None:
    """In the two largest units."""
    if seconds is None:
        return None
    if seconds < 60:
        return f"{seconds:.1f} s"
    left = round(seconds)
    words: list[str] = []
    for size, unit in (*UNITS, (1, "s")):
        amount, left = divmod(left, size)
        if amount or words:
            words.append(f"{amount} {unit}")
    return " ".join(words[:2])


def rate(per_hour: float | None) -> str | None:
    """Jobs per hour; small ones with a decimal."""
    if per_hour is None:
        return None
    return f"{per_hour:.0f}" if per_hour >= 100 else f"{per_hour:.1f}"


def percent(part: int, whole: int) -> str | None:
    """None of nothing."""
    return f"{part * 100 // whole}%" if whole else None


def short(value: object, longest: int) -> str:
    """A parameter or a message on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def print_fields(fields: Iterable[tuple[str, object]]) -> None:
    """One line each, the unknown ones left out."""
    known = [(name, value) for name, value in fields if value is not None and value != ""]
    width = max(len(name) for name, _ in known) + 1
    for name, value in known:
        print(f"{name + ':':{width}} {safe(str(value))}")
