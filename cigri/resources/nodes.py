"""Nodes as batch systems tell of them, those that are alike together."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cigri.requirements.value_kinds import PropertyValue, property_name


class AlikeNodes(NamedTuple):
    """So many nodes that are alike; sizes are in bytes, durations in seconds, what is not known is left out.

    `queue` is one that they serve, "" that of jobs that name none; None: they serve every queue.
    """

    properties: Mapping[str, PropertyValue]
    nodes: int
    queue: str | None = None


def alike(classes: Iterable[AlikeNodes]) -> list[AlikeNodes]:
    """Classes that are alike as one with the sum of their nodes, sorted by queue and properties."""
    by_key: dict[str, AlikeNodes] = {}
    for node_class in classes:
        key = json.dumps([node_class.queue, node_class.properties], sort_keys=True)
        same = by_key.get(key)
        by_key[key] = node_class._replace(nodes=node_class.nodes + same.nodes) if same else node_class
    return [by_key[key] for key in sorted(by_key)]


def known(properties: Mapping[str, PropertyValue | None]) -> dict[str, PropertyValue]:
    """Properties that have a value, and a name that can be written in a requirement."""
    return {name: value for written, value in properties.items() if value is not None and (name := _name(written))}


def _name(written: str) -> str:
    try:
        return property_name(written)
    except ValueError:
        return ""
