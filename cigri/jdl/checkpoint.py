"""When a task is asked to save its state: `checkpoint: {signal: USR2, before_walltime: 120, period: 3600}`."""

from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator

from cigri.jdl.fields import Line, Seconds
from cigri.jdl.problems import complaint, did_you_mean, wrong

# With their numbers on Linux. A shell lets the commands that it starts in the background ignore INT and QUIT.
SIGNALS = MappingProxyType(
    {"HUP": 1, "USR1": 10, "USR2": 12, "ALRM": 14, "TERM": 15, "URG": 23, "XCPU": 24, "WINCH": 28}
)


def _signal(value: str) -> str:
    numbers = {str(number): name for name, number in SIGNALS.items()}
    name = value.upper().removeprefix("SIG")
    name = numbers.get(name, name)
    if name not in SIGNALS:
        raise wrong(f"one of the signals {', '.join(SIGNALS)}", value)
    return name


class Checkpoint(BaseModel):
    """The signal that asks for it, how long before the walltime it comes, and how often else (None: never)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    signal: Annotated[Line, AfterValidator(_signal)] = "USR2"
    before_walltime: Seconds = 120
    period: Seconds | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, Checkpoint):
            return value
        if not isinstance(value, dict):
            raise wrong("an object, or true", value, "write {} for the usual signal before the walltime")
        for name in value:
            if name not in cls.model_fields:
                known = did_you_mean(name, cls.model_fields) or f"there are {', '.join(cls.model_fields)}"
                raise complaint(f"{name!r} is unknown here", known)
        return value


def _wish(value: object) -> object:
    return {} if value is True else None if value is False else value


def _fits(checkpoint: Checkpoint | None, info: ValidationInfo) -> Checkpoint | None:
    walltime = info.data.get("walltime")
    if checkpoint is not None and walltime is not None and checkpoint.before_walltime >= walltime:
        message = f"before_walltime ({checkpoint.before_walltime} s) is not less than the walltime ({walltime} s)"
        raise complaint(message, "give the task some time to work before it is asked to save")
    return checkpoint


CheckpointOrNone = Annotated[Checkpoint | None, BeforeValidator(_wish), AfterValidator(_fits)]
"""Stands after `walltime` in a model."""
