"""From what pydantic finds to what a person can mend, in few words however large the wrong thing is."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from reprlib import Repr
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

from cigri.errors import DescriptionProblem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LONGEST_SHOWN = 60
MOST_SHOWN = 20
"""Problems of one kind that are told; the others are counted."""


class _ShortRepr(Repr):
    """As repr, but only so much of it that a text cut at LONGEST_SHOWN is the same."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = LONGEST_SHOWN // 3
        self.maxother = LONGEST_SHOWN

    def repr_dict(self, content: dict[Any, Any], level: int) -> str:
        if level <= 0:
            return "{...}"
        items = islice(content.items(), LONGEST_SHOWN // 6)
        return f"{{{', '.join(f'{self.repr1(key, 0)}: {self.repr1(value, level - 1)}' for key, value in items)}}}"

    def repr_str(self, text: str, level: int) -> str:
        return repr(text[: LONGEST_SHOWN + 1])

    def repr_int(self, number: int, level: int) -> str:
        return repr(number) if number.bit_length() < 4 * LONGEST_SHOWN else "a number of very many digits"


def shown(value: object) -> str:
    """A value as a person recognises it, cut when it is long."""
    return cut(_ShortRepr().repr(value))


def cut(text: str) -> str:
    """At most LONGEST_SHOWN characters, the last three of which are dots where it was longer."""
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


class ProblemCounter:
    """Many problems of one kind: the first are told, the others counted."""

    def __init__(self, problems: list[DescriptionProblem], others: str) -> None:
        self._problems = problems
        self._others = others
        self._count = 0

    @property
    def is_full(self) -> bool:
        """Would one more only be counted? Then what to write instead need not be looked for."""
        return self._count >= MOST_SHOWN

    def add(self, place: str, message: str, hint: str = "") -> None:
        """Beyond MOST_SHOWN it is only counted."""
        self._count += 1
        if self._count <= MOST_SHOWN:
            self._problems.append(DescriptionProblem(place, message, hint))

    def close(self, place: str) -> None:
        """After the last fault: a problem at `place` tells how many were only counted."""
        if self._count > MOST_SHOWN:
            self._problems.append(DescriptionProblem(place, f"{self._count - MOST_SHOWN} more {self._others}"))


def unexpected_value(expected: str, value: object, hint: str = "") -> PydanticCustomError:
    """An error for pydantic: the value is not what its field takes."""
    return invalid_value(f"expected {expected}, not {shown(value)}", hint)


def invalid_value(message: str, hint: str = "") -> PydanticCustomError:
    """An error for pydantic: the value is of the right kind, but cannot be obeyed."""
    return PydanticCustomError("cigri", "{message}", {"message": message, "hint": hint})


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A hint that names the nearest known word, or ""."""
    near = get_close_matches(word.lower(), list(words), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def place_of(*steps: str | int) -> str:
    """The place of a value in a description, as in `clusters.dahu.prologue[2]`."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{cut(step)}" if text else cut(step)
    return text


def problem_of(error: "ErrorDetails", place: str, fields: Iterable[str]) -> DescriptionProblem:
    """One error of pydantic in our words."""
    key = str(error["loc"][0]) if error["loc"] else ""
    match error["type"]:
        case "cigri":
            return DescriptionProblem(place, error["ctx"]["message"], error["ctx"]["hint"])
        case "extra_forbidden":
            return DescriptionProblem(place, "unknown field", did_you_mean(key, fields))
        case "missing":
            return DescriptionProblem(place, "is missing")
        case _:
            return DescriptionProblem(place, f"{error['msg']}, not {shown(error['input'])}")
