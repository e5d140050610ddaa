"""What is brought of the files that tasks write: `outputs: ["result.h5", "log/*.txt"]`, `collect: {when: end}`."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from cigri.jdl.kinds_of_values import HOME, Text
from cigri.jdl.problems import complaint, wrong
from cigri.jdl.wish import Wish

MOST_PATTERNS = 100
LONGEST_PATTERN = 1000
"""Characters; the command of each task holds them."""

_ENDS_OF_LINES = re.compile("[\n\r]")
_BRACKETS = re.compile(r"\[!?\]?[^]/]*\]")


class Collect(Wish):
    """When outputs are brought: after a success only, or however the task has ended."""

    usual: ClassVar[str] = "way, after a success"

    when: Literal["success", "end"] = "success"


def _patterns(value: object) -> object:
    """One pattern is a list of it, as in CiGri 3's output_file."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise wrong("a list of names and patterns", value, 'for example ["result.h5", "log/*.txt"]')
    if len(value) > MOST_PATTERNS:
        raise complaint(f"these are {len(value)}; there are {MOST_PATTERNS} at most", "write * for what is alike")
    return value


def _pattern(text: str) -> str:
    """Without the steps that lead nowhere."""
    if _ENDS_OF_LINES.search(text):
        raise complaint("holds the end of a line", "write ? in its place")
    if len(text) > LONGEST_PATTERN:
        raise complaint(f"has more than {LONGEST_PATTERN} characters", "write * for a part of it")
    if text.startswith("/") or HOME.match(text):
        raise complaint("is not below the directory of the task", "write it relative to where the task runs")
    steps = [step for step in text.split("/") if step not in ("", ".")]
    if ".." in steps:
        raise complaint("leads out of the directory of the task by ..", "have the task write its files below it")
    if not steps:
        raise complaint("names no file", "write a name, or * for all files")
    if "\\" in text:
        raise complaint("holds a backslash, which has no meaning here", "write [*] for a star itself")
    if "**" in text:
        raise complaint("** is no pattern", "write * for each step of the path, or the name of the directory")
    if "[" in _BRACKETS.sub("", text):
        raise complaint("a [ is not closed", "write [[] for a bracket itself")
    return "/".join(steps)


def require_one_directory(info: ValidationInfo) -> None:
    """Raise a complaint where a task that is continued has another directory at each attempt."""
    continues = info.data.get("checkpoint") is not None or info.data.get("idempotent")
    if continues and info.data.get("own_directory"):
        message = "a task that is continued would not find its files: each attempt runs in a fresh directory"
        raise complaint(message, "name an exec_directory")


def _fits(outputs: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if outputs:
        require_one_directory(info)
    return tuple(dict.fromkeys(outputs))


Outputs = Annotated[
    tuple[Annotated[Text, AfterValidator(_pattern)], ...], BeforeValidator(_patterns), AfterValidator(_fits)
]
"""Stands after `checkpoint` and `idempotent` in a model."""
