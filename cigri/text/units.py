"""Units of sizes and durations, the same wherever people write them: 16 GB, 90 min, 1:30:00, 1-00:00:00."""

import re
from decimal import Decimal

SIZES = {unit: 1024**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB", "EB"))}
DURATIONS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
SPELLINGS = {
    **{"sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min"},
    **{"hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w"},
}
HOW_DURATION = "write '2 h', '90 min', '1:30:00', '1-00:00:00', or a number of seconds"
AMBIGUOUS = "'m' is milli in one place and minutes or megabytes in another"

_AMOUNT = re.compile(
    r"\s*([-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?)\s*([a-zA-Z]*)\s*"
)
_CLOCK = re.compile(r"\s*(?:([0-9]{1,7})-)?([0-9]{1,9}):([0-9]{1,7})(?::([0-9]{1,7}))?\s*")


def amount_and_unit(text: str) -> tuple[Decimal, str] | None:
    """A number and what stands behind it, perhaps nothing, as it is written; None: it is no number."""
    found = _AMOUNT.fullmatch(text)
    return (Decimal(found[1]), found[2]) if found else None


def unit_of(word: str) -> str:
    """GiB, G, gb and GB are GB, and hours is h; a word that is no unit is in neither SIZES nor DURATIONS."""
    small = word.lower()
    if small in SPELLINGS or small in DURATIONS:
        return SPELLINGS.get(small, small)
    upper = small.upper().replace("IB", "B")
    return upper if upper in SIZES else f"{upper}B"


def read_duration(text: str) -> Decimal | None:
    """Seconds: [days-]hours:minutes[:seconds], an amount with a unit, or a number; None: it is no duration.

    Raise ValueError for the unit m, which may mean too much.
    """
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return Decimal(days * 86400 + hours * 3600 + minutes * 60 + seconds)
    found = amount_and_unit(text)
    if found is None:
        return None
    amount, word = found
    if word == "m":
        raise ValueError(f"{AMBIGUOUS} (write 'min')")
    unit = DURATIONS.get(unit_of(word)) if word else 1
    return None if unit is None else amount * unit
