"""Whether the last tasks are begun a second time elsewhere: `replicate: {budget: 0.05, max_replicas: 1}`."""

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

from cigri.jdl.fields import Positive
from cigri.jdl.problems import complaint, did_you_mean, wrong

MOST_REPLICAS = 10


def _share(value: object) -> float:
    try:
        share = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise wrong("a share above 0, at most 1", value, "0.05 is 5 % of the core-seconds used so far")
    return share


def _few(value: int) -> int:
    if value > MOST_REPLICAS:
        raise complaint(f"{value} replicas of a task at a time are too many", f"{MOST_REPLICAS} at the most")
    return value


class Replication(BaseModel):
    """What replicas may burn, as a share of the core-seconds used so far, and how many a task has at a time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: Annotated[float, BeforeValidator(_share)] = 0.05
    max_replicas: Annotated[Positive, AfterValidator(_few)] = 1

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, Replication):
            return value
        if not isinstance(value, dict):
            raise wrong("an object, or true", value, "write {} for the usual budget")
        for name in value:
            if name not in cls.model_fields:
                known = did_you_mean(name, cls.model_fields) or f"there are {', '.join(cls.model_fields)}"
                raise complaint(f"{name!r} is unknown here", known)
        return value


def _wish(value: object) -> object:
    return {} if value is True else None if value is False else value


ReplicationOrNone = Annotated[Replication | None, BeforeValidator(_wish)]
