"""Files of the submitting host that a campaign takes along, as `gridsub` names them once it has read them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from cigri.jdl.outputs import require_one_directory
from cigri.jdl.problems import invalid_value, shown, unexpected_value
from cigri.jdl.value_types import unsendable

SHA256 = re.compile("[0-9a-f]{64}")
MOST_INPUTS = 1000
LONGEST_PART = 255
"""Bytes of a part of a name; more than that no filesystem takes."""
LONGEST_PATH = 1000
UNREAD = "`gridsub` reads and sends it; what calls the portal itself sends it to /inputs first, and names its sum"


def checked_name(value: str) -> str:
    """Of an input, where a task finds it, below its directory."""
    if fault := unsendable(value):
        raise invalid_value(fault)
    parts = value.split("/")
    if value.startswith("/") or not all(parts) or {".", ".."} & {*parts}:
        raise invalid_value(
            f"{shown(value)} is no name below the directory of a task: a relative one, without . and .."
        )
    if len(value) > LONGEST_PATH or any(len(part.encode()) > LONGEST_PART for part in parts):
        raise invalid_value("this name is too long")
    return value


class InputFile(BaseModel):
    """`path`: as its user wrote it; `to`: its name for tasks. `packed`: it was a directory, and is an archive of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    to: Annotated[str, AfterValidator(checked_name)]
    sha256: str = Field(pattern=f"^{SHA256.pattern}$")
    size: int = Field(ge=0)
    packed: bool = False


def _read(value: object) -> object:
    """As a list of those that were read."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) > MOST_INPUTS:
            raise invalid_value(
                f"{len(value)} inputs are more than {MOST_INPUTS}", "name the directory that holds them"
            )
        for each in value:
            if isinstance(each, str) or (isinstance(each, dict) and "sha256" not in each):
                raise unexpected_value("an input that was read", each, UNREAD)
        return tuple(value)
    raise unexpected_value("a list of files and directories", value)


def _apart(inputs: tuple[InputFile, ...], info: ValidationInfo) -> tuple[InputFile, ...]:
    """No name is that of two, nor lies in another one."""
    if inputs:
        require_one_directory(info)
    names = sorted(needed.to for needed in inputs)
    places = {*names}
    for name, following in pairwise(names):
        if name == following:
            raise invalid_value(f"two inputs are to be {shown(name)}", "write {from: ..., to: another name}")
    for name in names:
        above = name.rpartition("/")[0]
        while above:
            if above in places:
                raise invalid_value(f"{shown(name)} would lie in {shown(above)}, which is an input itself")
            above = above.rpartition("/")[0]
    return inputs


Inputs = Annotated[
    tuple[InputFile, ...],
    BeforeValidator(_read, json_schema_input_type=Annotated[list[InputFile], Field(max_length=MOST_INPUTS)]),
    AfterValidator(_apart),
]
"""Stands after `checkpoint` and `idempotent` in a model."""
