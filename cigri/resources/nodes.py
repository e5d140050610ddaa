"""Nodes as batch systems tell of them, those that are alike together."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cigri.requirements.kinds import Value, property_name


class NodeClass(NamedTuple):
    """So many nodes that are alike; sizes are in bytes, durations in seconds, what is not known is left out.

    `queue` is one that they serve, "" that of jobs that name none; None: they serve every queue.
    """

    properties: Mapping[str, Value]
    nodes: int
    queue: str | None = None


def alike(classes: Iterable[NodeClass]) -> list[NodeClass]:
    """Each class once, in an order that is always the same."""
    found: dict[str, NodeClass] = {}
    for one in classes:
        key = json.dumps([one.queue, one.properties], sort_keys=True)
        known = found.get(key)
        found[key] = one._replace(nodes=one.nodes + known.nodes) if known else one
    return [found[key] for key in sorted(found)]


def known(properties: Mapping[str, Value | None]) -> dict[str, Value]:
    """Those that have a value, and a name that can be written in a requirement."""
    return {name: value for written, value in properties.items() if value is not None and (name := _name(written))}


def _name(written: str) -> str:
    try:
        return property_name(written)
    except ValueError:
        return ""
