"""With whom outputs are shared: `outputs_mode: "0640"`, or `outputs_mode: {mode: "0640", group: astro}`."""

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from cigri.identity.file_sharing import FileSharing
from cigri.jdl.optional_settings import OptionalSettings, wish
from cigri.jdl.problems import invalid_value, unexpected_value
from cigri.jdl.value_types import Line

MODE_EXAMPLE = 'for example "0640": you write, your group reads'
OWN_BITS = 0o6

_DIGITS = re.compile(r"0?[0-7]{3}")
_SPECIAL_DIGITS = re.compile(r"[0-7]{4}")
_GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]{0,63}")


def _mode(value: object) -> str:
    """Four digits, the first of which is 0."""
    if not isinstance(value, str):
        raise unexpected_value("a mode as text", value, MODE_EXAMPLE)
    text = value.strip()
    if not _DIGITS.fullmatch(text):
        if _SPECIAL_DIGITS.fullmatch(text):
            raise invalid_value(f"{text} sets setuid, setgid or the sticky bit", "begin it with 0")
        raise unexpected_value("a mode of three octal digits", value, MODE_EXAMPLE)
    owner, group, others = (int(digit) for digit in text[-3:])
    if (owner | group | others) & 1:
        raise invalid_value(
            f"{text} makes files programs", "write the mode of files: who may read them enters directories"
        )
    if owner != OWN_BITS:
        raise invalid_value(f"{text} keeps yourself from reading or writing", "begin it with 06")
    if others & 2:
        raise invalid_value(f"{text} lets everybody write", "name a group, and a mode as 0660")
    if others & ~group or group == 2:
        raise invalid_value(
            f"{text} lets others do what your group may not, or write what it cannot read", MODE_EXAMPLE
        )
    return f"0{text[-3:]}"


def _group(value: str) -> str:
    if value and not _GROUP.fullmatch(value):
        raise unexpected_value("the name of a group", value, "as `id -Gn` tells it, not its number")
    return value


class OutputsMode(OptionalSettings):
    """The mode of files, and the group that they are given to; without one they keep the group that they have."""

    usual: ClassVar[str] = "mode, 0640"

    mode: Annotated[str, BeforeValidator(_mode)] = "0640"
    group: Annotated[Line, AfterValidator(_group)] = ""

    @property
    def sharing(self) -> FileSharing:
        """As it is obeyed."""
        return FileSharing(int(self.mode, 8), self.group)


def _object(value: object) -> object:
    """A mode alone is one without a group; a number is perhaps not what was written (0640 is 416 in YAML)."""
    if isinstance(value, str):
        return {"mode": value}
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise unexpected_value("a mode as text", value, MODE_EXAMPLE)
    return wish(value)


OutputsModeOrNone = Annotated[
    OutputsMode | None,
    BeforeValidator(
        _object, json_schema_input_type=OutputsMode | Annotated[str, Field(pattern=r"^\s*0?[0-7]{3}\s*$")] | bool | None
    ),
]
