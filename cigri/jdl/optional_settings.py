"""What is done only when it is asked for: `true` or `{}` is the usual way, an object says how, `false` and null: no."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator

from cigri.jdl.problems import did_you_mean, invalid_value, unexpected_value


class OptionalSettings(BaseModel):
    """The settings of one such thing, each with a default; `usual` is a name for these, as in "the usual budget"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    usual: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            raise unexpected_value("an object, or true", value, f"write {{}} for the usual {cls.usual}")
        for name in value:
            if name not in cls.model_fields:
                hint = did_you_mean(name, cls.model_fields) or f"there are {', '.join(cls.model_fields)}"
                raise invalid_value(f"{name!r} is unknown here", hint)
        return value


def wish(value: object) -> object:
    """Before validation: true means the usual way ({}), false none (None); anything else is read as it is."""
    return {} if value is True else None if value is False else value
