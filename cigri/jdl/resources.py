"""What one job asks for, in OAR's words ("/nodes=2/core=4") or as an object ({"cpu": 4, "mem": "2 GB"})."""

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from cigri.drivers import ResourceRequest
from cigri.jdl.fields import IDENTIFIER, LARGEST, Line, Natural, Positive
from cigri.jdl.problems import complaint, wrong

NODES = ("nodes", "network_address", "host")
CORES = ("core", "resource_id")
MISNAMED = {"core": "cpu", "cores": "cpu", "cpus": "cpu", "node": "nodes", "memory": "mem", "ram": "mem"}
NOT_OAR = {"node": "nodes", "cores": "core", "cpus": "cpu"}
AMOUNTS = ("ALL", "BEST", "BESTHALF")
MEGABYTES = {"": 1.0, "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(?:i?b)?)?", re.IGNORECASE)
_LEVEL = re.compile(r"(\w+)=(\w+)")
_CONDITION = re.compile(r"\{[^{}]*\}")
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
    """`nodes` times `cpu` cores and `mem` MB (0: the cluster's default); any other name is a whole number of it.

    `native`: the same in the batch system's own words, alternatives of which the largest has `nodes` times `cpu` cores.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    cpu: Positive = 1
    nodes: Positive = 1
    mem: Annotated[int, BeforeValidator(_megabytes)] = 0
    native: tuple[Line, ...] = ()
    __pydantic_extra__: dict[str, Natural]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            return _from_hierarchy(value)
        if isinstance(value, list | tuple):
            return _from_alternatives(value)
        if isinstance(value, dict):
            for name in value:
                _check_name(name)
        elif not isinstance(value, Resources):
            raise wrong("resources", value, _SPELLING)
        return value

    def request(self) -> ResourceRequest:
        """The same in the words of the drivers."""
        return ResourceRequest(self.cpu, self.nodes, self.mem, dict(self.model_extra or {}), self.native)


def _check_name(name: str) -> None:
    if name in MISNAMED:
        raise complaint(f"{name!r} is called {MISNAMED[name]!r} here")
    if not IDENTIFIER.fullmatch(name):
        raise complaint(f"{name!r} is no name of a resource", "letters, digits and _ only")


def _from_hierarchy(text: str) -> dict[str, Any]:
    """Sockets (`cpu`) times cores are our cores; what is more than nodes, sockets and cores stays in OAR's words."""
    groups = [_group(group, text) for group in _split(text.strip())]
    if len(groups) > 1 or not groups[0].is_plain:
        return {**_shape(groups), "native": (text.strip(),)}
    return _shape(groups)


def _from_alternatives(texts: Sequence[object]) -> dict[str, Any]:
    """OAR's moldable jobs: it takes the alternative that ends first, so that the largest has to be reckoned with."""
    shapes = []
    for text in texts:
        if not isinstance(text, str):
            raise wrong("resources", text, _SPELLING)
        shapes.append(_from_hierarchy(text))
    if not shapes:
        raise wrong("resources", texts, _SPELLING)
    if len(shapes) == 1:
        return shapes[0]
    largest = max(shapes, key=lambda shape: int(shape["nodes"]) * int(shape["cpu"]))
    return {**largest, "native": tuple(str(text).strip() for text in texts)}


class _Group(NamedTuple):
    """One part between the `+`; `cores` of each node are None when it does not say how many."""

    nodes: int
    cores: int | None
    is_plain: bool


def _shape(groups: Sequence[_Group]) -> dict[str, Any]:
    """Nodes in all, times the most cores on one of them; a core for each where it is not said."""
    return {"nodes": sum(group.nodes for group in groups), "cpu": max(group.cores or 1 for group in groups)}


def _split(text: str) -> list[str]:
    """At each `+` that is in no braces."""
    if "{" in _CONDITION.sub("", text) or "}" in _CONDITION.sub("", text):
        raise complaint(f"{text!r}: braces are not closed, or stand one in the other", _SPELLING)
    parts = re.findall(r"(?:\{[^{}]*\}|[^+{}])+", text)
    if len(parts) != _CONDITION.sub("", text).count("+") + 1:
        raise complaint(f"{text!r}: a group beside '+' is empty", _SPELLING)
    return parts


def _group(part: str, text: str) -> _Group:
    """The levels from the outside in."""
    condition = _CONDITION.match(part.strip())
    levels: dict[str, int | None] = {}
    for one in part.strip()[condition.end() if condition else 0 :].strip().removeprefix("/").split("/"):
        name, amount = _level(one.strip(), text)
        if name in levels:
            raise complaint(f"the level {name!r} is given twice in {text!r}")
        levels[name] = amount
    known = [name for name in ("nodes", "cpu", "core") if name in levels]
    order = [name for name in levels if name in known]
    if order != known:
        raise complaint(f"the levels of {text!r} are not in order", _SPELLING)
    is_plain = not condition and order == list(levels) and "core" in levels and None not in levels.values()
    outer = list(levels.values())[: list(levels).index("nodes") + 1] if "nodes" in levels else []
    inner = list(levels.values())[len(outer) :]
    cores = math.prod(amount or 1 for amount in inner) if "core" in levels else None
    return _Group(math.prod(amount or 1 for amount in outer), cores, is_plain)


def _level(part: str, text: str) -> tuple[str, int | None]:
    """Name and amount; None is as many as there are."""
    if "," in part:
        raise complaint(f"{text!r}: no walltime is understood here", "write it in 'walltime'")
    found = _LEVEL.fullmatch(part)
    if found is None:
        raise complaint(f"{text!r}: {part!r} is not understood", _SPELLING)
    name = "nodes" if found[1] in NODES else "core" if found[1] in CORES else found[1]
    if right := NOT_OAR.get(name):
        raise complaint(f"{text!r}: the level {name!r} is called {right!r} in OAR's words")
    if found[2] in AMOUNTS:
        return name, None
    if not re.fullmatch("[1-9][0-9]{0,8}", found[2]):
        raise complaint(f"{text!r}: {name} takes a whole number, 1 or more, not {found[2]!r}")
    return name, int(found[2])
