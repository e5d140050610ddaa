"""What one job asks for, in OAR's words ("/nodes=2/core=4") or as an object ({"cpu": 4, "mem": "2 GB"})."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from cigri.jdl.amounts import read_amount
from cigri.jdl.problems import invalid_value, unexpected_value
from cigri.jdl.value_types import IDENTIFIER, LONGEST_LINE, Line, Positive
from cigri.resources.request import ResourceRequest

NODE_LEVELS = ("nodes", "network_address", "host")
CORE_LEVELS = ("core", "resource_id")
MISNAMED = {"core": "cpu", "cores": "cpu", "cpus": "cpu", "node": "nodes", "memory": "mem", "ram": "mem"}
NOT_OAR = {"node": "nodes", "cores": "core", "cpus": "cpu"}
OAR_AMOUNTS = ("ALL", "BEST", "BESTHALF")
SLURM_RESOURCE_KIND = re.compile(r"^(gres|license)/")
FIXED: Mapping[str, int] = MappingProxyType({})


def _cores(value: object) -> object:
    """Offers, quotas and forecasts reckon with one number of cores for all jobs of a campaign on a cluster."""
    if isinstance(value, str) and "{" in value:
        hint = "write a campaign for each number"
        raise invalid_value(f"all tasks of a campaign have as many on a cluster, so {value!r} cannot be obeyed", hint)
    return value


_WrittenAmount = Annotated[float, Field(ge=0)] | Annotated[str, Field(min_length=1)]
Cores = Annotated[Positive, BeforeValidator(_cores)]
SizeField = Annotated[
    int | str, BeforeValidator(partial(read_amount, is_size=True), json_schema_input_type=_WrittenAmount)
]
Count = Annotated[
    int | str, BeforeValidator(partial(read_amount, is_size=False), json_schema_input_type=_WrittenAmount)
]
"""A number, or a formula of which each task makes its own."""

_LEVEL = re.compile(r"(\w+)=(\w+)")
_CONDITION = re.compile(r"\{[^{}]*\}")
_SPELLING = 'write for example \'/nodes=2/core=4\', or an object as {"nodes": 2, "cpu": 4}'


class JobResources(BaseModel):
    """`nodes` times `cpu` cores, `mem` and `tmp` MB (0: not asked for); any other name is a whole number of it.

    `native`: the same in the batch system's own words, alternatives of which the largest has `nodes` times `cpu` cores.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    cpu: Cores = 1
    nodes: Cores = 1
    mem: SizeField = 0
    tmp: SizeField = 0
    native: tuple[Line, ...] = ()
    __pydantic_extra__: dict[str, Count]

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        in_words = {"type": "string", "minLength": 1, "maxLength": LONGEST_LINE}
        return {"anyOf": [in_words, {"type": "array", "items": in_words, "minItems": 1}, handler(schema)]}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if isinstance(value, str):
            return _from_hierarchy(value)
        if isinstance(value, list | tuple):
            return _from_alternatives(value)
        if isinstance(value, dict):
            _check_names(value)
            return {_plain(name): amount for name, amount in value.items()}
        elif not isinstance(value, JobResources):
            raise unexpected_value("resources", value, _SPELLING)
        return value

    @property
    def width(self) -> int:
        """Cores on all its nodes together."""
        return self.nodes * self.cpu

    @property
    def amounts(self) -> dict[str, int | str]:
        """All but cores and nodes, by name; what is not asked for is left out."""
        named = {"mem": self.mem, "tmp": self.tmp, **(self.model_extra or {})}
        return {name: amount for name, amount in named.items() if amount != 0}

    @property
    def formulas(self) -> dict[str, str]:
        """By name of the resource, the amounts that are computed for each task."""
        return {name: amount for name, amount in self.amounts.items() if isinstance(amount, str)}

    def request(self, exact: Mapping[str, int] = FIXED) -> ResourceRequest:
        """The same in the words of the drivers, with `exact` in place of the formulas; raise KeyError if one lacks."""
        amounts = {name: exact[name] if isinstance(amount, str) else amount for name, amount in self.amounts.items()}
        mem, tmp = amounts.pop("mem", 0), amounts.pop("tmp", 0)
        return ResourceRequest(self.cpu, self.nodes, mem, amounts, self.native, tmp)


def _plain(name: str) -> str:
    """Slurm itself is asked whether it is a licence or a generic resource."""
    return SLURM_RESOURCE_KIND.sub("", name)


def _check_names(names: Iterable[str]) -> None:
    """A job finds each amount in a variable, the name of which is in capitals."""
    seen: dict[str, str] = {}
    for name in names:
        plain = _plain(name)
        if plain in MISNAMED:
            raise invalid_value(f"{name!r} is called {MISNAMED[plain]!r} here")
        if not IDENTIFIER.fullmatch(plain):
            raise invalid_value(f"{name!r} is no name of a resource", "letters, digits and _ only")
        if other := seen.get(plain.upper()):
            raise invalid_value(
                f"{name!r} and {other!r} are one name in capitals", "give them names that differ in more"
            )
        seen[plain.upper()] = name


def _from_hierarchy(text: str) -> dict[str, Any]:
    """Sockets (`cpu`) times cores are our cores; what is more than nodes, sockets and cores stays in OAR's words."""
    if len(text) > LONGEST_LINE:
        raise unexpected_value("resources in fewer words", text, _SPELLING)
    groups = [_group(group, text) for group in _split(text.strip())]
    if len(groups) > 1 or not groups[0].is_plain:
        return {**_shape(groups), "native": (text.strip(),)}
    return _shape(groups)


def _from_alternatives(texts: Sequence[object]) -> dict[str, Any]:
    """OAR's moldable jobs: it takes the alternative that ends first, so that the largest has to be reckoned with."""
    shapes = []
    for text in texts:
        if not isinstance(text, str):
            raise unexpected_value("resources", text, _SPELLING)
        shapes.append(_from_hierarchy(text))
    if not shapes:
        raise unexpected_value("resources", texts, _SPELLING)
    if len(shapes) == 1:
        return shapes[0]
    largest = max(shapes, key=lambda shape: int(shape["nodes"]) * int(shape["cpu"]))
    return {**largest, "native": tuple(str(text).strip() for text in texts)}


class _HierarchyGroup(NamedTuple):
    """One part between the `+`; `cores` of each node are None when it does not say how many."""

    nodes: int
    cores: int | None
    is_plain: bool


def _shape(groups: Sequence[_HierarchyGroup]) -> dict[str, Any]:
    """Nodes in all, times the most cores on one of them; a core for each where it is not said."""
    return {"nodes": sum(group.nodes for group in groups), "cpu": max(group.cores or 1 for group in groups)}


def _split(text: str) -> list[str]:
    """At each `+` that is in no braces."""
    if "{" in _CONDITION.sub("", text) or "}" in _CONDITION.sub("", text):
        raise invalid_value(f"{text!r}: braces are not closed, or stand one in the other", _SPELLING)
    parts = re.findall(r"(?:\{[^{}]*\}|[^+{}])+", text)
    if len(parts) != _CONDITION.sub("", text).count("+") + 1:
        raise invalid_value(f"{text!r}: a group beside '+' is empty", _SPELLING)
    return parts


def _group(part: str, text: str) -> _HierarchyGroup:
    """The levels from the outside in."""
    condition = _CONDITION.match(part.strip())
    levels: dict[str, int | None] = {}
    for level in part.strip()[condition.end() if condition else 0 :].strip().removeprefix("/").split("/"):
        name, amount = _level(level.strip(), text)
        if name in levels:
            raise invalid_value(f"the level {name!r} is given twice in {text!r}")
        levels[name] = amount
    in_order = [name for name in ("nodes", "cpu", "core") if name in levels]
    order = [name for name in levels if name in in_order]
    if order != in_order:
        raise invalid_value(f"the levels of {text!r} are not in order", _SPELLING)
    is_plain = not condition and order == list(levels) and "core" in levels and None not in levels.values()
    outer = list(levels.values())[: list(levels).index("nodes") + 1] if "nodes" in levels else []
    inner = list(levels.values())[len(outer) :]
    cores = math.prod(amount or 1 for amount in inner) if "core" in levels else None
    return _HierarchyGroup(math.prod(amount or 1 for amount in outer), cores, is_plain)


def _level(part: str, text: str) -> tuple[str, int | None]:
    """Name and amount; None is as many as there are."""
    if "," in part:
        raise invalid_value(f"{text!r}: no walltime is understood here", "write it in 'walltime'")
    match = _LEVEL.fullmatch(part)
    if match is None:
        raise invalid_value(f"{text!r}: {part!r} is not understood", _SPELLING)
    name = "nodes" if match[1] in NODE_LEVELS else "core" if match[1] in CORE_LEVELS else match[1]
    if right := NOT_OAR.get(name):
        raise invalid_value(f"{text!r}: the level {name!r} is called {right!r} in OAR's words")
    if match[2] in OAR_AMOUNTS:
        return name, None
    if not re.fullmatch("[1-9][0-9]{0,8}", match[2]):
        raise invalid_value(f"{text!r}: {name} takes a whole number, 1 or more, not {match[2]!r}")
    return name, int(match[2])
