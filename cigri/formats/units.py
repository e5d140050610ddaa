"""Times, sizes and dates, the same wherever people read and write them: 16 GB, 90 min, 1:30:00, 1-00:00:00."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from itertools import pairwise

MINUTE, HOUR, DAY, WEEK = 60, 3600, 86400, 604800
DURATIONS = {"s": 1, "min": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
SPELLINGS = {
    **{"sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min"},
    **{"hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w"},
}
HOW_DURATION = "write '2 h', '1 h 30 min', '1:30:00', '1-00:00:00', or a number of seconds"
HOW_DATE = "write 2026-12-01T08:00, or 2026-12-01 08:00:00 +01:00"
AMBIGUOUS = "'m' is milli in one place and minutes or megabytes in another"

MULTIPLES = {letter: power for power, letter in enumerate(("", "K", "M", "G", "T", "P", "E"))}
"""The power of 1024, or of 1000 where others count so, that a letter before B stands for."""
SIZES = {f"{letter}B": 1024**power for letter, power in MULTIPLES.items()}
MEGABYTE = SIZES["MB"]
"""What batch systems and descriptions count memory and disks in."""

COUNTED_IN_MB = frozenset(["mem", "tmp"])
"""Resources; all others have no unit of their own."""

_SPOKEN_UNITS = ("d", "h", "min", "s")
_AMOUNT = re.compile(
    r"\s*([-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?)\s*([a-zA-Z]*)\s*"
)
_SPOKEN_PART = re.compile(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([a-zA-Z]+)\s*")
_SPOKEN = re.compile(rf"(?:{_SPOKEN_PART.pattern}){{2,4}}")
_CLOCK = re.compile(r"\s*(?:([0-9]{1,7})-)?([0-9]{1,9}):([0-9]{1,7})(?::([0-9]{1,7}))?\s*")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(?=.{8}\+)| (?=.{8} ))(\d\d:\d\d:\d\d)(?:\+00:00| UTC\b)", re.ASCII)
"""As `as_instant` and `as_utc` write one."""
_ZONE = re.compile(r" (?=[+-]\d\d:\d\d$)", re.ASCII)


def amount_and_unit(text: str) -> tuple[Decimal, str] | None:
    """A number and what stands behind it, perhaps nothing, as it is written; None: it is no number."""
    parts = _AMOUNT.fullmatch(text)
    return (Decimal(parts[1]), parts[2]) if parts else None


def unit_of(word: str) -> str:
    """GiB, G, gb and GB are GB, and hours is h; a word that is no unit is in neither SIZES nor DURATIONS."""
    small = word.lower()
    if small in SPELLINGS or small in DURATIONS:
        return SPELLINGS.get(small, small)
    upper = small.upper().replace("IB", "B")
    return upper if upper in SIZES else f"{upper}B"


def read_duration(text: str) -> Decimal | None:
    """Seconds: [days-]hours:minutes[:seconds], amounts with units, the largest first, or a number.

    None: it is no duration. Raise ValueError for the unit m, which may mean too much.
    """
    if clock := _CLOCK.fullmatch(text):
        return Decimal(in_seconds(*clock.groups()))
    if _SPOKEN.fullmatch(text):
        return _read_spoken(text)
    read = amount_and_unit(text)
    if read is None:
        return None
    amount, word = read
    if word == "m":
        raise ValueError(f"{AMBIGUOUS} (write 'min')")
    unit = DURATIONS.get(unit_of(word)) if word else 1
    return None if unit is None else amount * unit


def _read_spoken(text: str) -> Decimal | None:
    """`1 d 2 h`, as `as_duration` writes it: each unit once, the largest first."""
    parts = [(Decimal(amount), word) for amount, word in _SPOKEN_PART.findall(text)]
    if any(word == "m" for _, word in parts):
        raise ValueError(f"{AMBIGUOUS} (write 'min')")
    units = [DURATIONS.get(unit_of(word), 0) for _, word in parts]
    if 0 in units or any(unit <= following for unit, following in pairwise(units)):
        return None
    return sum((amount * unit for (amount, _), unit in zip(parts, units, strict=True)), Decimal())


def in_seconds(days: str | None, hours: str | None, minutes: str | None, seconds: str | None) -> int:
    """The parts of a duration as somebody wrote them, perhaps with some left out."""
    counts = (int(part or 0) for part in (days, hours, minutes, seconds))
    return sum(count * unit for count, unit in zip(counts, (DAY, HOUR, MINUTE, 1), strict=True))


def as_clock(seconds: int) -> str:
    """`1:30:00`: what `read_duration` and every batch system read as these seconds."""
    return f"{seconds // HOUR}:{seconds // MINUTE % 60:02}:{seconds % MINUTE:02}"


def as_duration(seconds: float) -> str:
    """A duration for a person, in its two largest units: `3 d 4 h`, `12 min 5 s`, `8.25 s`."""
    if round(seconds, 2) < MINUTE:
        return f"{round(seconds, 2):g} s"
    for large, small in pairwise(_SPOKEN_UNITS):
        whole, remainder = divmod(round(seconds / DURATIONS[small]), DURATIONS[large] // DURATIONS[small])
        if whole:
            return f"{whole} {large}" + (f" {remainder} {small}" if remainder else "")
    raise AssertionError("a minute is a minute at least")


def as_size(size: float) -> str:
    """Bytes for a person, short rather than exact: `15.6 GB`."""
    unit = next(unit for unit in reversed(SIZES) if size >= SIZES[unit] or unit == "B")
    return f"{size / SIZES[unit]:.5g} {unit}"


def exact_size(size: int) -> str:
    """Bytes to the letter, in the largest unit of which they are a whole number."""
    unit = next(unit for unit in reversed(SIZES) if size % SIZES[unit] == 0) if size else "B"
    return f"{size // SIZES[unit]} {unit}"


def exact_duration(seconds: int) -> str:
    """Seconds to the letter, in the largest unit of which they are a whole number."""
    unit = next(unit for unit in _SPOKEN_UNITS if seconds % DURATIONS[unit] == 0) if seconds else "s"
    return f"{seconds // DURATIONS[unit]} {unit}"


def read_date(text: str, zone: tzinfo | None) -> datetime:
    """A moment as ISO 8601 writes it, T or a blank between its parts; one without a time zone is in `zone`.

    None is the time zone of this host. Raise ValueError when it is no date that there is.
    """
    try:
        date = datetime.fromisoformat(_ZONE.sub("", text.strip()))
        return date if date.tzinfo else date.replace(tzinfo=zone).astimezone(zone)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no date ({HOW_DATE})") from None


def as_utc(moment: datetime) -> str:
    """A date for many readers, who may be in several time zones: `2026-12-01 08:00:00 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def as_local(moment: datetime) -> str:
    """A date for a reader here: `2026-12-01 09:00:00`."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def as_instant(moment: datetime) -> str:
    """In sentences for readers anywhere: `2026-12-01T08:00:00+00:00`; `localised` writes it as they do."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def localised(sentence: str) -> str:
    """A sentence with the instants in it as dates for a reader here."""
    return "".join(part if isinstance(part, str) else as_local(part) for part in split_instants(sentence))


def split_instants(sentence: str) -> Iterator[str | datetime]:
    """The text of a sentence and the instants in it, in turn; what looks like one and is none stays text.

    Sentences quote what jobs and clusters wrote, which may be anything.
    """
    behind = 0
    for found in _INSTANT.finditer(sentence):
        try:
            instant = datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00")
            instant.astimezone()
        except (ValueError, OverflowError):
            continue
        yield sentence[behind : found.start()]
        yield instant
        behind = found.end()
    yield sentence[behind:]
