"""What one job asks for, in OAR's words ("/nodes=2/core=4") or as an object ({"cpu": 4, "mem": "2 GB"})."""

import math
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from cigri.drivers import ResourceRequest
from cigri.jdl.fields import IDENTIFIER, LARGEST, Natural, Positive
from cigri.jdl.problems import complaint, wrong

NODES = ("nodes", "network_address", "host")
CORES = ("core", "resource_id")
MISNAMED = {"core": "cpu", "cores": "cpu", "cpus": "cpu", "node": "nodes", "memory": "mem", "ram": "mem"}
MEGABYTES = {"": 1.0, "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(?:i?b)?)?", re.IGNORECASE)
_LEVEL = re.compile(r"(\w+)=(\w+)")
_SPELLING = 'write for example \'/nodes=2/core=4\', or an object as {"nodes": 2, "cpu": 4}'


def _megabytes(value: object) -> int:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    found = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    amount = math.ceil(float(found[1]) * MEGABYTES[(found[2] or "").lower()]) if found else -1
    if not 0 <= amount <= LARGEST:
        raise wrong("an amount of memory", value, "write '2 GB', '512 MB', or a number of MB")
    return amount


class Resources(BaseModel):
    """`nodes` times `cpu` cores and `mem` MB (0: the cluster's default); any other name is a whole number of it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    cpu: Positive = 1
    nodes: Positive = 1
    mem: Annotated[int, BeforeValidator(_megabytes)] = 0
    __pydantic_extra__: dict[str, Natural]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            return _from_hierarchy(value)
        if isinstance(value, dict):
            for name in value:
                _check_name(name)
        elif not isinstance(value, Resources):
            raise wrong("resources", value, _SPELLING)
        return value

    def request(self) -> ResourceRequest:
        """The same in the words of the drivers."""
        return ResourceRequest(self.cpu, self.nodes, self.mem, dict(self.model_extra or {}))


def _check_name(name: str) -> None:
    if name in MISNAMED:
        raise complaint(f"{name!r} is called {MISNAMED[name]!r} here")
    if not IDENTIFIER.fullmatch(name):
        raise complaint(f"{name!r} is no name of a resource", "letters, digits and _ only")


def _from_hierarchy(text: str) -> dict[str, int]:
    """OAR's levels from the outside in; `cpu` there is a socket, so sockets times cores are our cores."""
    levels: dict[str, int] = {}
    for part in text.strip().removeprefix("/").split("/"):
        name, amount = _level(part.strip(), text)
        if name in levels:
            raise complaint(f"the level {name!r} is given twice in {text!r}")
        levels[name] = amount
    if "core" not in levels:
        missing = f"{text!r} does not say how many cores a job takes; whole nodes or sockets cannot be asked for yet"
        raise complaint(missing, f"write '{text.rstrip('/')}/core=4' for four cores")
    if list(levels) != [name for name in ("nodes", "cpu", "core") if name in levels]:
        raise complaint(f"the levels of {text!r} are not in order", _SPELLING)
    return {"nodes": levels.get("nodes", 1), "cpu": levels.get("cpu", 1) * levels["core"]}


def _level(part: str, text: str) -> tuple[str, int]:
    if "{" in part:
        raise complaint(f"{text!r}: conditions in braces are not understood here", "write them in 'properties'")
    if "," in part or "+" in part:
        raise complaint(f"{text!r}: only one group of resources is understood, and no walltime in it", _SPELLING)
    found = _LEVEL.fullmatch(part)
    if found is None:
        raise complaint(f"{text!r}: {part!r} is not understood", _SPELLING)
    name = "nodes" if found[1] in NODES else "core" if found[1] in CORES else found[1]
    if name not in ("nodes", "cpu", "core"):
        example = f'write an object, as {{"cpu": 4, "{name}": 1}}, if it is to be counted'
        raise complaint(f"{text!r}: the level {name!r} is not understood (only nodes, cpu and core are)", example)
    if not re.fullmatch("[1-9][0-9]{0,8}", found[2]):
        raise complaint(f"{text!r}: {name} takes a whole number, 1 or more, not {found[2]!r}")
    return name, int(found[2])
