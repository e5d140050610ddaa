"""From what pydantic finds to what a person can mend."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from cigri.errors import Problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """A value as a person recognises it, cut when it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def wrong(expected: str, value: object, hint: str = "") -> PydanticCustomError:
    """A value is not what its field takes."""
    return complaint(f"expected {expected}, not {shown(value)}", hint)


def complaint(message: str, hint: str = "") -> PydanticCustomError:
    """A value is of the right kind but cannot be obeyed."""
    return PydanticCustomError("cigri", "{message}", {"message": message, "hint": hint})


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or ""."""
    near = get_close_matches(word.lower(), list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def place_of(*steps: str | int) -> str:
    """Where something is: `clusters.dahu.prologue[2]`."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def problem_of(error: "ErrorDetails", place: str, known: Iterable[str]) -> Problem:
    """One error of pydantic in our words."""
    key = str(error["loc"][0]) if error["loc"] else ""
    match error["type"]:
        case "cigri":
            return Problem(place, error["ctx"]["message"], error["ctx"]["hint"])
        case "extra_forbidden":
            return Problem(place, "unknown field", did_you_mean(key, known))
        case "missing":
            return Problem(place, "is missing")
        case _:
            return Problem(place, f"{error['msg']}, not {shown(error['input'])}")
