"""The nodes of an OAR cluster: the resources of oarnodes put together, with the properties that they share."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cigri.drivers.oar.output_parsing import END_OF_OAR_ANSWER, entries, unreadable
from cigri.formats.units import MEGABYTE
from cigri.requirements.value_kinds import PropertyValue
from cigri.resources.nodes import AlikeNodes, alike, known
from cigri.shell.results import ShellResult

NODE_PROPERTY = "network_address"  # that OAR's node files name nodes by
# What OAR itself keeps of each resource: how it is just now, and the numbers and names that tell one from another.
OWN_PROPERTIES = re.compile(
    r"(resource_)?id|network_address|host|type|(next_|last_)?(state|available_upto|finaud_decision|job_date).*"
    r"|next_finaud_decision|suspended_jobs|scheduler_priority|expiry_date|desktop_computing|drain|jobs?|links|api_timestamp"
    r"|cpu|core|cpuset|thread|ip"
)
DEAD = "Dead"


def read_nodes(answer: ShellResult, core: str, memory: str | None, columns: Mapping[str, str]) -> list[AlikeNodes]:
    """`core` is the property that tells cores apart, `memory` the one with the MB of a node.

    `columns`: what properties are called there, if not by their names.
    """
    text, _, after_end = answer.out.partition(f"{END_OF_OAR_ANSWER}\n")
    if answer.status != 0 or f"{END_OF_OAR_ANSWER}\n" not in answer.out or after_end:
        raise unreadable("oarnodes", answer)
    nodes: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries(text, "oarnodes", answer):
        if not isinstance(entry, dict) or not entry.get(NODE_PROPERTY):
            raise unreadable("oarnodes", answer)
        if entry.get("state") != DEAD:
            nodes.setdefault(str(entry[NODE_PROPERTY]), []).append(entry)
    return alike(AlikeNodes(_properties(resources, core, memory, columns), 1) for resources in nodes.values())


def _properties(
    resources: Sequence[Mapping[str, Any]], core: str, memory: str | None, columns: Mapping[str, str]
) -> dict[str, PropertyValue]:
    shared = {name: value for name, value in resources[0].items() if all(row.get(name) == value for row in resources)}
    size = shared.get(memory) if memory else None
    values = {name: value for name, value in shared.items() if isinstance(value, str | int | float) and value != ""}
    plain: dict[str, PropertyValue | None] = {
        name: value
        for name, value in values.items()
        if not OWN_PROPERTIES.fullmatch(name) and name != core and name not in columns.values()
    }
    plain["cores"] = len({row.get(core) or row.get("resource_id") for row in resources})
    plain["memory"] = size * MEGABYTE if isinstance(size, int) and size > 0 else None
    return known(plain | {name: values[column] for name, column in columns.items() if column in values})
