"""Files of the submitting host that each task takes along, named by its parameters: `task_inputs: ["cases/{case}"]`."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo

from cigri.jdl.inputs import SHA256, UNREAD, checked_name
from cigri.jdl.outputs import require_one_directory
from cigri.jdl.problems import invalid_value, shown, unexpected_value

MOST_OF_A_TASK = 100
_PLACEHOLDER = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")


class TaskFile(BaseModel):
    """`path`: as its user wrote it; `to`: its name for tasks. Both are filled for each task."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    to: Annotated[str, AfterValidator(checked_name)]


class TaskInputs(BaseModel):
    """The files of each task, as `gridsub` has read them: so many different ones, of so many bytes together.

    `sums` is the SHA-256 of a file, sent as an input is, that has the sums of each task in a line (cigri.inputs.sums).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Annotated[tuple[TaskFile, ...], Field(min_length=1, max_length=MOST_OF_A_TASK)]
    sums: str = Field(pattern=f"^{SHA256.pattern}$")
    number: int = Field(ge=0)
    size: int = Field(ge=0)


def _read(value: object) -> object:
    """None, or as they were read."""
    if value is None or value == [] or isinstance(value, TaskInputs | dict):
        return value or None
    if isinstance(value, str | Sequence):
        raise unexpected_value("files of tasks that were read", value, UNREAD)
    raise unexpected_value("a list of files", value)


def _apart(wanted: TaskInputs | None, info: ValidationInfo) -> TaskInputs | None:
    """No name is that of two, nor that of an input of the campaign."""
    if wanted is None:
        return None
    require_one_directory(info)
    taken = {needed.to for needed in info.data.get("inputs", ())}
    for file in wanted.files:
        if file.to in taken:
            hint = "write {from: ..., to: another name}"
            raise invalid_value(f"two inputs are to be {shown(_PLACEHOLDER.sub('?', file.to))}", hint)
        taken.add(file.to)
    return wanted


TaskInputsOrNone = Annotated[
    TaskInputs | None,
    BeforeValidator(
        _read, json_schema_input_type=TaskInputs | Annotated[list[None] | dict[str, None], Field(max_length=0)] | None
    ),
    AfterValidator(_apart),
]
"""Stands after `checkpoint`, `idempotent` and `inputs` in a model."""
