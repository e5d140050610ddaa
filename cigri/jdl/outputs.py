"""What is brought of the files that tasks write, and where to: `outputs: ["log/*.txt"]`, `collect: {to: results}`."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from cigri.jdl.amounts import read_amount
from cigri.jdl.optional_settings import OptionalSettings
from cigri.jdl.problems import invalid_value, shown, unexpected_value
from cigri.jdl.value_types import HOME, Line, Seconds, Text
from cigri.outputs.destination import NUMBER

MOST_PATTERNS = 100
LONGEST_PATTERN = 1000
"""Characters; the command of each task holds them."""

_ENDS_OF_LINES = re.compile("[\n\r]")
_SLOTS = re.compile(r"\{[^{}]*\}")
_BRACKETS = re.compile(r"\[!?\]?[^]/]*\]")


def _destination(text: str) -> str:
    """Without the steps that lead nowhere; the task's number stands in one place, at the end where none is named."""
    if not text.startswith("/"):
        hint = "`gridsub` makes it one from the directory of the description; what calls the portal names it from / on"
        raise unexpected_value("a path from / on", text, hint)
    steps = [step for step in text.split("/") if step not in ("", ".")]
    if ".." in steps:
        raise invalid_value("leads through ..", "name the directory itself")
    if not any(step != NUMBER for step in steps):
        raise invalid_value("names no directory", "for example results/{number}")
    slots = _SLOTS.findall(text)
    if set(slots) - {NUMBER} or len(slots) > 1 or "{" in text.replace(NUMBER, "") or "}" in text.replace(NUMBER, ""):
        raise invalid_value(f"{shown(text)}: {NUMBER} is all that is replaced, once, by the number of the task")
    return "/".join(["", *steps, *([] if slots else [NUMBER])])


def _megabytes(value: object) -> int:
    amount = read_amount(value, is_size=True)
    if isinstance(amount, str) or amount < 1:
        raise unexpected_value("an amount that is the same for all tasks, 1 MB or more", value, "for example '100 MB'")
    return amount


_WrittenMegabytes = Annotated[float, Field(gt=0)] | Annotated[str, Field(min_length=1)]


class CollectSettings(OptionalSettings):
    """When outputs are brought: after a success only, or however the task has ended; and where to, if by themselves.

    `max`: MB that those of a task may have to come by themselves. `keep`: seconds that they stay on the cluster then.
    """

    usual: ClassVar[str] = "way, after a success"

    to: Annotated[Line, AfterValidator(_destination)] | None = None
    when: Literal["success", "end"] = "success"
    max: Annotated[int, BeforeValidator(_megabytes, json_schema_input_type=_WrittenMegabytes)] | None = None
    keep: Seconds | None = None


def _patterns(value: object) -> object:
    """One pattern is a list of it, as in CiGri 3's output_file."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise unexpected_value("a list of names and patterns", value, 'for example ["result.h5", "log/*.txt"]')
    if len(value) > MOST_PATTERNS:
        raise invalid_value(f"these are {len(value)}; there are {MOST_PATTERNS} at most", "write * for what is alike")
    return value


def _pattern(text: str) -> str:
    """Without the steps that lead nowhere."""
    if _ENDS_OF_LINES.search(text):
        raise invalid_value("holds the end of a line", "write ? in its place")
    if len(text) > LONGEST_PATTERN:
        raise invalid_value(f"has more than {LONGEST_PATTERN} characters", "write * for a part of it")
    if text.startswith("/") or HOME.match(text):
        raise invalid_value("is not below the directory of the task", "write it relative to where the task runs")
    steps = [step for step in text.split("/") if step not in ("", ".")]
    if ".." in steps:
        raise invalid_value("leads out of the directory of the task by ..", "have the task write its files below it")
    if not steps:
        raise invalid_value("names no file", "write a name, or * for all files")
    if "\\" in text:
        raise invalid_value("holds a backslash, which has no meaning here", "write [*] for a star itself")
    if "**" in text:
        raise invalid_value("** is no pattern", "write * for each step of the path, or the name of the directory")
    if "[" in _BRACKETS.sub("", text):
        raise invalid_value("a [ is not closed", "write [[] for a bracket itself")
    return "/".join(steps)


def require_one_directory(info: ValidationInfo) -> None:
    """Raise a complaint where a task that is continued has another directory at each attempt."""
    continues = info.data.get("checkpoint") is not None or info.data.get("idempotent")
    if continues and info.data.get("own_directory"):
        message = "a task that is continued would not find its files: each attempt runs in a fresh directory"
        raise invalid_value(message, "name an exec_directory")


def _fits(outputs: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if outputs:
        require_one_directory(info)
    return tuple(dict.fromkeys(outputs))


Outputs = Annotated[
    tuple[Annotated[Text, AfterValidator(_pattern)], ...],
    BeforeValidator(_patterns, json_schema_input_type=Annotated[list[Text], Field(max_length=MOST_PATTERNS)] | str),
    AfterValidator(_fits),
]
"""Stands after `checkpoint` and `idempotent` in a model."""


def _has_outputs(collect: CollectSettings, info: ValidationInfo) -> CollectSettings:
    """What tasks print is brought by `gridget` in any case."""
    if collect.to and not info.data.get("outputs", ()):
        raise invalid_value(
            "nothing is to be collected", 'name files in outputs, for example ["result.h5", "log/*.txt"]'
        )
    return collect


CollectOutputs = Annotated[CollectSettings, AfterValidator(_has_outputs)]
"""Stands after `outputs` in a model."""
