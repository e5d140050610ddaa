"""From what a person writes to a value, and back: 16 GB, 90 min, 1:30:00, 'Intel Xeon', true."""

import math
import re
from decimal import Decimal

from cigri.requirements.kinds import Kind, Scalar, Value

LARGEST = 2**63 - 1
LONGEST = 1000
SIZES = {unit: 1024**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB", "EB"))}
DURATIONS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
SPELLINGS = {
    **{"sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min"},
    **{"hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w"},
}
HOW = {
    Kind.NUMBER: "write a number without a unit",
    Kind.SIZE: "write '16 GB', or a number of MB",
    Kind.DURATION: "write '2 h', '90 min', '1:30:00', or a number of seconds",
    Kind.STRING: "put text in quotes",
    Kind.BOOLEAN: "write true or false",
    Kind.VERSION: "write a version in quotes, as '1.10'",
}
SHOWN_DURATIONS = ("d", "h", "min", "s")

_AMOUNT = re.compile(
    r"\s*([-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?)\s*([a-zA-Z]*)\s*"
)
_CLOCK = re.compile(r"\s*([0-9]{1,9}):([0-5]?[0-9])(?::([0-5]?[0-9]))?\s*")
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")


def read_value(raw: object, kind: Kind | None = None) -> tuple[Value, Kind]:
    """A value in the units it is kept in; without a kind it is told by how the value is written.

    A list holds values of one kind. Raise ValueError with what to write instead.
    """
    if not isinstance(raw, list | tuple):
        return _read_scalar(raw, kind)
    values, kinds = [], {kind} if kind and not raw else set()
    for item in raw:
        value, found = _read_scalar(item, kind)
        values.append(value)
        kinds.add(found)
    if len(kinds) > 1:
        raise ValueError(f"a list holds values of one kind, not {' and '.join(sorted(filter(None, kinds)))}")
    return values, kinds.pop() if kinds else Kind.STRING


def shown(value: Value, kind: Kind | None) -> str:
    """For a person: short rather than exact."""
    if isinstance(value, list):
        return f"[{', '.join(shown(item, kind) for item in value)}]"
    if kind is Kind.SIZE and isinstance(value, int | float) and value > 0:
        unit = next(unit for unit in reversed(SIZES) if value >= SIZES[unit] or unit == "B")
        return f"{value / SIZES[unit]:.5g} {unit}"
    return written(value, kind)


def written(value: Scalar, kind: Kind | None) -> str:
    """To the letter: what `read_value` reads as this value again, text in quotes."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case int() if kind is Kind.SIZE:
            unit = next(unit for unit in reversed(SIZES) if value % SIZES[unit] == 0) if value else "B"
            return f"{value // SIZES[unit]} {unit}"
        case int() if kind is Kind.DURATION:
            unit = next(unit for unit in SHOWN_DURATIONS if value % DURATIONS[unit] == 0) if value else "s"
            return f"{value // DURATIONS[unit]} {unit}"
        case _:
            return str(value)


def _read_scalar(raw: object, kind: Kind | None) -> tuple[Scalar, Kind]:
    if isinstance(raw, int) and abs(raw) > LARGEST:
        raise ValueError("a number is too large to be meant")
    if kind is None:
        return _read_unknown(raw)
    value: Scalar | None
    match kind:
        case Kind.BOOLEAN:
            value = _truth(raw)
        case Kind.STRING | Kind.VERSION:
            value = _text(raw)
        case _:
            value = _amount(raw, kind)
    if value is None:
        raise ValueError(f"expected {_article(kind)}, not {_cut(raw)} ({HOW[kind]})")
    return value, kind


def _read_unknown(raw: object) -> tuple[Scalar, Kind]:
    """A number is a number, a number with a unit what its unit says, and other text is text."""
    match raw:
        case bool():
            return _read_scalar(raw, Kind.BOOLEAN)
        case int() | float() | Decimal():
            return _read_scalar(raw, Kind.NUMBER)
        case str() if (found := _AMOUNT.fullmatch(raw)) and found[2]:
            unit = _unit(found[2])
            kind = Kind.SIZE if unit in SIZES else Kind.DURATION if unit in DURATIONS else Kind.STRING
            return _read_scalar(raw, kind)
        case str():
            return _read_scalar(raw, Kind.STRING)
        case _:
            raise ValueError(f"expected a number, text, true or false, or a list of these, not {_cut(raw)}")


def _truth(raw: object) -> bool | None:
    if isinstance(raw, str) and raw.strip().lower() in ("true", "false"):
        return raw.strip().lower() == "true"
    return raw if isinstance(raw, bool) else None


def _text(raw: object) -> str | None:
    """A whole number is text as well; 1.10 has lost its end by now."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        raw = str(raw)
    if not isinstance(raw, str) or _UNSENDABLE.search(raw):
        return None
    if len(raw) > LONGEST:
        raise ValueError(f"a text of {len(raw)} characters is too long: {LONGEST} at most")
    return raw


def _amount(raw: object, kind: Kind) -> int | float | None:
    """In the unit of its kind: sizes and durations are whole, a part of one is rounded up."""
    if isinstance(raw, str) and kind is Kind.DURATION and (clock := _CLOCK.fullmatch(raw)):
        return int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3] or 0)
    if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal | str):
        return None
    if (isinstance(raw, float) and not math.isfinite(raw)) or (isinstance(raw, Decimal) and not raw.is_finite()):
        return None
    found = _AMOUNT.fullmatch(raw if isinstance(raw, str) else f"{raw}")
    factor = _factor(found[2], kind) if found else None
    if found is None or factor is None:
        return None
    amount = Decimal(found[1]) * factor
    if abs(amount) > LARGEST:
        raise ValueError(f"{_cut(raw)} is too large to be meant")
    if kind is not Kind.NUMBER:
        return math.ceil(amount) if amount >= 0 else None
    return int(amount) if amount == int(amount) else float(amount) or 0


def _factor(unit: str, kind: Kind) -> int | None:
    """How much of what is kept one of the unit is; None: no unit of this kind."""
    if unit == "m":
        raise ValueError("'m' is milli in one place and minutes or megabytes in another (write 'min' or 'MB')")
    match kind:
        case Kind.SIZE:
            return SIZES.get(_unit(unit)) if unit else SIZES["MB"]
        case Kind.DURATION:
            return DURATIONS.get(_unit(unit)) if unit else 1
        case _:
            return None if unit else 1


def _unit(written: str) -> str:
    """GiB, G, gb and GB are the same, and so are hours and h; "" is none."""
    small = written.lower()
    if small in SPELLINGS or small in DURATIONS:
        return SPELLINGS.get(small, small)
    upper = small.upper().replace("IB", "B")
    return upper if upper in SIZES else f"{upper}B"


def _article(kind: Kind) -> str:
    return "text" if kind is Kind.STRING else "true or false" if kind is Kind.BOOLEAN else f"a {kind}"


def _cut(raw: object) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
