"""Whether the last tasks are begun a second time elsewhere: `replicate: {budget: 0.05, max_replicas: 1}`."""

import math
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from cigri.jdl.optional_settings import OptionalSettings, wish
from cigri.jdl.problems import invalid_value, unexpected_value
from cigri.jdl.value_types import Positive

MOST_REPLICAS = 10


def _share(value: object) -> float:
    try:
        share = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise unexpected_value("a share above 0, at most 1", value, "0.05 is 5 % of the core-seconds used so far")
    return share


def _few(value: int) -> int:
    if value > MOST_REPLICAS:
        raise invalid_value(f"{value} replicas of a task at a time are too many", f"{MOST_REPLICAS} at the most")
    return value


_WrittenShare = Annotated[float, Field(gt=0, le=1)] | str


class ReplicationSettings(OptionalSettings):
    """What replicas may burn, as a share of the core-seconds used so far, and how many a task has at a time."""

    usual: ClassVar[str] = "budget"

    budget: Annotated[float, BeforeValidator(_share, json_schema_input_type=_WrittenShare)] = 0.05
    max_replicas: Annotated[Positive, AfterValidator(_few)] = 1


ReplicationOrNone = Annotated[
    ReplicationSettings | None, BeforeValidator(wish, json_schema_input_type=ReplicationSettings | bool | None)
]
