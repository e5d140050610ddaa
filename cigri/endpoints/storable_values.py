"""What the database holds of numbers and texts: endpoints are asked with nothing else."""

import re
from collections.abc import Mapping

from cigri.errors import UsageError

LARGEST = 10**18  # with what is added to it, it still is a bigint


def require_storable(asked: Mapping[str, object]) -> None:
    """Raise UsageError for a number or a text that the database cannot hold, however deep in a parameter it stands."""
    try:
        found = _find_fault(asked)
    except RecursionError:
        raise UsageError("what is asked is nested too deeply") from None
    if found is not None:
        place, why = found
        place = place.removeprefix(".")
        raise UsageError(f"{place}: {why}", re.split(r"[.\[]", place)[0])


def _find_fault(value: object) -> tuple[str, str] | None:
    """Where in the value it is, and what is wrong."""
    match value:
        case int() if abs(value) > LARGEST:
            return "", f"numbers go from {-LARGEST} to {LARGEST}"
        case str() if "\0" in value or not _is_utf8(value):
            return "", "neither NUL nor half a character (a lone surrogate) can be in a text"
        case Mapping():
            for name, inner in value.items():
                if found := _find_fault(name):
                    return "", found[1]
                if found := _find_fault(inner):
                    return f".{name}{found[0]}", found[1]
        case list() | tuple():
            for number, inner in enumerate(value):
                if found := _find_fault(inner):
                    return f"[{number}]{found[0]}", found[1]
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
