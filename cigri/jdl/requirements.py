"""What a campaign wants of queues and nodes, kept as its user wrote it; the grid knows its properties better."""

from datetime import time
from typing import Annotated, Any

from pydantic import BeforeValidator

from cigri.errors import RequirementError
from cigri.jdl.problems import invalid_value, unexpected_value
from cigri.requirements import BUILT_IN, NO_REQUIREMENT, parse_requirement

RawRequirements = str | dict[str, Any]

_SPELLING = 'write for example \'memory >= 16 GB and not el7\', or {"memory": "16 GB", "platform": "x86_64"}'


def _requirements(value: object) -> RawRequirements | None:
    """None, where nothing is wanted; properties that the grid may know are read by how their values are written."""
    if value is None:
        return None
    if not isinstance(value, str | dict):
        raise unexpected_value("an expression or an object of properties", value, _SPELLING)
    raw: RawRequirements = (
        value.strip() if isinstance(value, str) else {name: _plain(item) for name, item in value.items()}
    )
    try:
        wanted = parse_requirement(raw, BUILT_IN)
    except RequirementError as error:
        raise invalid_value("; ".join(map(str, error.problems))) from None
    return None if wanted == NO_REQUIREMENT else raw


def _plain(value: object) -> object:
    """TOML reads 01:00:00 as a time of day."""
    return value.isoformat() if isinstance(value, time) else value


RequirementsOrNone = Annotated[RawRequirements | None, BeforeValidator(_requirements)]
