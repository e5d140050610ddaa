"""From what a person writes to a value, and back: 16 GB, 90 min, 1:30:00, 'Intel Xeon', true."""

import math
import re
from decimal import Decimal

from cigri.formats.units import (
    AMBIGUOUS,
    DURATIONS,
    HOW_DURATION,
    MEGABYTE,
    SIZES,
    amount_and_unit,
    as_size,
    exact_duration,
    exact_size,
    read_duration,
    unit_of,
)
from cigri.requirements.value_kinds import PropertyValue, Scalar, ValueKind

LARGEST_VALUE = 2**63 - 1
LONGEST_STRING = 1000
HOW_KIND = {
    ValueKind.NUMBER: "write a number without a unit",
    ValueKind.SIZE: "write '16 GB', or a number of MB",
    ValueKind.DURATION: HOW_DURATION,
    ValueKind.STRING: "put text in quotes",
    ValueKind.BOOLEAN: "write true or false",
    ValueKind.VERSION: "write a version in quotes, as '1.10'",
}

_UNSENDABLE = re.compile("[\0\ud800-\udfff]")


def read_value(raw: object, kind: ValueKind | None = None) -> tuple[PropertyValue, ValueKind]:
    """A value in the units it is kept in; without a kind it is told by how the value is written.

    A list holds values of one kind. Raise ValueError with what to write instead.
    """
    if not isinstance(raw, list | tuple):
        return _read_scalar(raw, kind)
    values, kinds = [], {kind} if kind and not raw else set()
    for item in raw:
        value, item_kind = _read_scalar(item, kind)
        values.append(value)
        kinds.add(item_kind)
    if len(kinds) > 1:
        raise ValueError(f"a list holds values of one kind, not {' and '.join(sorted(filter(None, kinds)))}")
    return values, kinds.pop() if kinds else ValueKind.STRING


def shown(value: PropertyValue, kind: ValueKind | None) -> str:
    """A value for a person, short rather than exact."""
    if isinstance(value, list):
        return f"[{', '.join(shown(item, kind) for item in value)}]"
    if kind is ValueKind.SIZE and isinstance(value, int | float) and value > 0:
        return as_size(value)
    return written(value, kind)


def written(value: Scalar, kind: ValueKind | None) -> str:
    """A value as `read_value` reads it again: exact, text in quotes."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case int() if kind is ValueKind.SIZE:
            return exact_size(value)
        case int() if kind is ValueKind.DURATION:
            return exact_duration(value)
        case _:
            return str(value)


def _read_scalar(raw: object, kind: ValueKind | None) -> tuple[Scalar, ValueKind]:
    if isinstance(raw, int) and abs(raw) > LARGEST_VALUE:
        raise ValueError("a number is too large to be meant")
    if kind is None:
        return _read_unknown(raw)
    value: Scalar | None
    match kind:
        case ValueKind.BOOLEAN:
            value = _truth(raw)
        case ValueKind.STRING | ValueKind.VERSION:
            value = _text(raw)
        case _:
            value = _amount(raw, kind)
    if value is None:
        raise ValueError(f"expected {_article(kind)}, not {_cut(raw)} ({HOW_KIND[kind]})")
    return value, kind


def _read_unknown(raw: object) -> tuple[Scalar, ValueKind]:
    """A number is a number, a number with a unit what its unit says, and other text is text."""
    match raw:
        case bool():
            return _read_scalar(raw, ValueKind.BOOLEAN)
        case int() | float() | Decimal():
            return _read_scalar(raw, ValueKind.NUMBER)
        case str() if (amount := amount_and_unit(raw)) and amount[1]:
            unit = unit_of(amount[1])
            kind = ValueKind.SIZE if unit in SIZES else ValueKind.DURATION if unit in DURATIONS else ValueKind.STRING
            return _read_scalar(raw, kind)
        case str():
            return _read_scalar(raw, ValueKind.STRING)
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
    if len(raw) > LONGEST_STRING:
        raise ValueError(f"a text of {len(raw)} characters is too long: {LONGEST_STRING} at most")
    return raw


def _amount(raw: object, kind: ValueKind) -> int | float | None:
    """In the unit of its kind; sizes and durations are whole, a part of one is rounded up."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal | str):
        return None
    if (isinstance(raw, float) and not math.isfinite(raw)) or (isinstance(raw, Decimal) and not raw.is_finite()):
        return None
    text = raw if isinstance(raw, str) else f"{raw}"
    amount = read_duration(text) if kind is ValueKind.DURATION else _in_unit(text, kind)
    if amount is None:
        return None
    if abs(amount) > LARGEST_VALUE:
        raise ValueError(f"{_cut(raw)} is too large to be meant")
    if kind is not ValueKind.NUMBER:
        return math.ceil(amount) if amount >= 0 else None
    return int(amount) if amount == int(amount) else float(amount) or 0


def _in_unit(text: str, kind: ValueKind) -> Decimal | None:
    """A number or a size; None: it is neither."""
    parts = amount_and_unit(text)
    if parts is None:
        return None
    amount, word = parts
    if word == "m":
        raise ValueError(f"{AMBIGUOUS} (write 'min' or 'MB')")
    if kind is ValueKind.SIZE:
        unit = SIZES.get(unit_of(word)) if word else MEGABYTE
        return None if unit is None else amount * unit
    return None if word else amount


def _article(kind: ValueKind) -> str:
    return "text" if kind is ValueKind.STRING else "true or false" if kind is ValueKind.BOOLEAN else f"a {kind}"


def _cut(raw: object) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."


# Versions in their order: 1.9 < 1.10rc1 < 1.10 = 1.10.0 < 1.10.1.

_PART = re.compile(r"([0-9]+)|([^\W\d_]+)")

VersionPart = tuple[int, int, str]

ZERO: VersionPart = (2, 0, "")

END_OF_VERSION: VersionPart = (1, 0, "")


def version(text: str) -> tuple[VersionPart, ...]:
    """A key to compare versions by; in it words come before the end of a version, which comes before numbers."""
    parts: list[VersionPart] = []
    for part in _PART.finditer(text):
        if part[1]:
            digits = part[1].lstrip("0")
            parts.append((2, len(digits), digits))
        else:
            _drop_zeros(parts)
            parts.append((0, 0, part[2].lower()))
    _drop_zeros(parts)
    return (*parts, END_OF_VERSION)


def _drop_zeros(parts: list[VersionPart]) -> None:
    while parts and parts[-1] == ZERO:
        parts.pop()
