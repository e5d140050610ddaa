"""Options in the batch system's own spelling: one line as on a command line, its words in a list, or an object."""

import re
from typing import Annotated

from pydantic import BeforeValidator

from cigri.jdl.problems import invalid_value, shown, unexpected_value
from cigri.jdl.quoting import is_balanced, split
from cigri.jdl.value_types import Line

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def _words(value: object) -> object:
    if isinstance(value, str):
        if not is_balanced(value):
            raise invalid_value("a quote is not closed, or a backslash ends the line")
        return split(value)
    if isinstance(value, dict):
        return [_word(name, content) for name, content in value.items()]
    if not isinstance(value, list | tuple):
        raise unexpected_value(
            "the batch system's own options", value, 'write \'-C fast --gres=gpu:1\' or {"gres": "gpu:1"}'
        )
    return value


def _word(name: object, value: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise invalid_value(f"{shown(name)} is no name of an option")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise invalid_value(f"{name}: expected text or a whole number, not {shown(value)}")
    return f"-{name}{value}" if len(name) == 1 else f"--{name}={value}"


BackendWords = Annotated[
    tuple[Line, ...], BeforeValidator(_words, json_schema_input_type=list[Line] | str | dict[str, str | int])
]
