"""The settings of one OAR cluster."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

BESTEFFORT_QUEUE = "besteffort"


def _column(name: str) -> str:
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise ValueError("the name of a property of OAR's resources is expected")
    return name


def _type(name: str) -> str:
    if name == "idempotent":
        raise ValueError("a job that OAR itself submits again would run tasks twice")
    return name


PropertyName = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]
ColumnName = Annotated[str, AfterValidator(_column)]
TypeName = Annotated[str, AfterValidator(_type)]


class OarOptions(BaseModel):
    """`types` are allowed beside OAR's own; `grace`: how long a besteffort job may go on when its cores are wanted.

    `end_delay`: seconds for which OAR may list jobs that have ended by themselves. `memory` and `disk`: the properties
    that tell what a node has of them, in MB.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_min_length=1)

    queue: str | None = None
    project: str | None = None
    properties: str | None = None
    types: Annotated[tuple[TypeName, ...], Field(strict=False)] = ()
    core: ColumnName = "core"
    memory: ColumnName | None = None
    disk: ColumnName | None = None
    columns: Mapping[PropertyName, ColumnName] = Field(default_factory=dict)
    grace: Annotated[int, Field(ge=0)] = 0
    suspend: bool = False
    end_delay: Annotated[float, Field(ge=0)] = 3600.0
