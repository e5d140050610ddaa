"""What a campaign waits for: `after: [{campaign: 12, tasks: same, when: success, tolerance: "5%"}]`, 12, or a name."""

import re
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from cigri.jdl.problems import did_you_mean, invalid_value, unexpected_value
from cigri.jdl.value_types import line
from cigri.states import AfterWhen

MOST_REQUIRED = 20
"""Campaigns that one may wait for."""
LARGEST_CAMPAIGN = 2**62
HOW_AFTER = "write 12, a name, 12:same, or {campaign: 12, tasks: all, when: success, tolerance: 5%}"
_PERCENT = re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%\s*")
_WHOLE = re.compile(r"\s*[0-9]{1,18}\s*")


class Tolerance(NamedTuple):
    """So many tasks of what is waited for, or such a share of them, may fail."""

    tasks: int = 0
    share: float = 0.0


def _tolerance(value: object) -> Tolerance:
    if isinstance(value, Tolerance):
        return value
    if isinstance(value, str) and (percent := _PERCENT.fullmatch(value)) and float(percent[1]) <= 100:
        return Tolerance(0, float(percent[1]) / 100)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_CAMPAIGN:
        return Tolerance(value)
    if isinstance(value, list | tuple) and len(value) == 2:  # as it is stored
        return Tolerance(int(value[0]), float(value[1]))
    raise unexpected_value("a number of tasks, or a percentage", value, 'for example 3, or "5%"')


def _required(value: object) -> object:
    """A number, or text that is none."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise unexpected_value("the number or the name of a campaign", value)
    if value == "" or (isinstance(value, int) and not 0 < value < LARGEST_CAMPAIGN):
        raise unexpected_value("the number or the name of a campaign", value)
    return value if isinstance(value, int) else line(value)


ENDINGS = {AfterWhen.SUCCESS: "well", AfterWhen.END: "in some way", AfterWhen.FAILURE: "with failures"}


_WrittenTolerance = Annotated[int, Field(ge=0)] | str


class After(BaseModel):
    """A campaign that has to end before: all of it, or, for each task, the task of the same number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    usual: ClassVar[str] = "way"

    campaign: Annotated[int | str, BeforeValidator(_required)]
    tasks: Literal["all", "same"] = "all"
    when: AfterWhen = AfterWhen.SUCCESS
    tolerance: Annotated[Tolerance, BeforeValidator(_tolerance, json_schema_input_type=_WrittenTolerance)] = Tolerance()

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1}, handler(schema)]}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, cls):
            return value
        if isinstance(value, int | str) and not isinstance(value, bool):
            text, colon, tasks = str(value).rpartition(":")
            return {"campaign": text, "tasks": tasks} if colon and tasks in ("all", "same") else {"campaign": value}
        if not isinstance(value, dict):
            raise unexpected_value("a campaign to wait for", value, HOW_AFTER)
        for name in value:
            if name not in cls.model_fields:
                hint = did_you_mean(str(name), cls.model_fields) or f"there are {', '.join(cls.model_fields)}"
                raise invalid_value(f"{name!r} is unknown here", hint)
        if "campaign" not in value:
            raise invalid_value("says no campaign", HOW_AFTER)
        _refuse_words(value)
        return value

    @property
    def words(self) -> str:
        """For people."""
        which = "each task, once that of the same number of" if self.tasks == "same" else "once"
        tolerated, share = self.tolerance
        most = f"{share:.4g} %" if (share := 100 * share) else f"{tolerated:,}" if tolerated else ""
        return f"{which} campaign {self.campaign} has ended {ENDINGS[self.when]}" + f" (tolerance {most})" * bool(most)

    @model_validator(mode="after")
    def _fits(self) -> "After":
        if self.tolerance != Tolerance() and (self.tasks == "same" or self.when is AfterWhen.END):
            what = "of single tasks" if self.tasks == "same" else "where any end will do"
            raise invalid_value(f"nothing is to be tolerated {what}", "leave tolerance out")
        return self


def _refuse_words(value: dict[str, Any]) -> None:
    """In our words, as pydantic's are long."""
    for name, words in (("tasks", ("all", "same")), ("when", tuple(AfterWhen))):
        if name in value and value[name] not in words:
            raise unexpected_value(f"{name}: {' or '.join(words)}", value[name])


def _listed(value: object) -> object:
    """One is a list of it."""
    if value is None:
        return ()
    given = list(value) if isinstance(value, list | tuple) else [value]
    if len(given) > MOST_REQUIRED:
        raise invalid_value(f"these are {len(given)} campaigns; {MOST_REQUIRED} may be waited for")
    return tuple(given)


def _once(after: tuple[After, ...], info: ValidationInfo) -> tuple[After, ...]:
    if after and info.data.get("campaign_type") == "test":
        raise invalid_value("a test runs at once: it waits for no campaign", "leave it out, and test each by itself")
    named = [one.campaign for one in after]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise invalid_value(f"campaign {twice} is named twice")
    return after


_WrittenAfters = Annotated[list[After], Field(max_length=MOST_REQUIRED)] | After | None
Afters = Annotated[
    tuple[After, ...], BeforeValidator(_listed, json_schema_input_type=_WrittenAfters), AfterValidator(_once)
]
"""Stands after `campaign_type` in a model."""
