"""When a task is asked to save its state: `checkpoint: {signal: USR2, before_walltime: 120, period: 3600}`."""

from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from cigri.formats.units import HOW_DURATION
from cigri.jdl.optional_settings import OptionalSettings, wish
from cigri.jdl.problems import invalid_value, unexpected_value
from cigri.jdl.value_types import Line, Seconds, whole_seconds

# With their numbers on Linux. A shell lets the commands that it starts in the background ignore INT and QUIT.
SIGNALS = MappingProxyType(
    {"HUP": 1, "USR1": 10, "USR2": 12, "ALRM": 14, "TERM": 15, "URG": 23, "XCPU": 24, "WINCH": 28}
)


def _signal(value: str) -> str:
    numbers = {str(number): name for name, number in SIGNALS.items()}
    name = value.upper().removeprefix("SIG")
    name = numbers.get(name, name)
    if name not in SIGNALS:
        raise unexpected_value(f"one of the signals {', '.join(SIGNALS)}", value)
    return name


def _period(value: object) -> object:
    if isinstance(value, str) and value.isalpha() and value != "never":
        raise unexpected_value("a duration, or 'never'", value, HOW_DURATION)
    return value if value == "never" else whole_seconds(value)


class CheckpointSettings(OptionalSettings):
    """The signal that asks for it, how long before the walltime it comes, and how often else (None: as it pays)."""

    usual: ClassVar[str] = "signal before the walltime"

    signal: Annotated[Line, AfterValidator(_signal)] = "USR2"
    before_walltime: Seconds = 120
    period: (
        Annotated[int | Literal["never"], BeforeValidator(_period, json_schema_input_type=Seconds | Literal["never"])]
        | None
    ) = None


def _fits(checkpoint: CheckpointSettings | None, info: ValidationInfo) -> CheckpointSettings | None:
    walltime = info.data.get("walltime")
    if checkpoint is not None and walltime is not None and checkpoint.before_walltime >= walltime:
        message = f"before_walltime ({checkpoint.before_walltime} s) is not less than the walltime ({walltime} s)"
        raise invalid_value(message, "give the task some time to work before it is asked to save")
    return checkpoint


CheckpointOrNone = Annotated[
    CheckpointSettings | None,
    BeforeValidator(wish, json_schema_input_type=CheckpointSettings | bool | None),
    AfterValidator(_fits),
]
"""Stands after `walltime` in a model."""
