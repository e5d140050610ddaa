"""What a property's value may be, and the properties that every queue's nodes may have without being declared."""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

Scalar = bool | int | float | str
PropertyValue = Scalar | list[Scalar]
"""Of a property, as JSON keeps it: sizes are bytes, durations seconds."""


class ValueKind(StrEnum):
    """SIZE: bytes, in powers of 1024. DURATION: seconds. VERSION: text whose numbers are compared as numbers."""

    NUMBER = "number"
    SIZE = "size"
    DURATION = "duration"
    STRING = "string"
    BOOLEAN = "boolean"
    VERSION = "version"


Kinds = Mapping[str, ValueKind]
"""By the names of properties."""

AMOUNT_KINDS = frozenset({ValueKind.NUMBER, ValueKind.SIZE, ValueKind.DURATION})
"""Of these a node has so much, and what wants less is content too."""

BUILT_IN: Kinds = MappingProxyType(
    {
        "site": ValueKind.STRING,
        "cluster": ValueKind.STRING,
        "queue": ValueKind.STRING,
        "platform": ValueKind.STRING,
        "cores": ValueKind.NUMBER,
        "memory": ValueKind.SIZE,
        "gpus": ValueKind.NUMBER,
        "features": ValueKind.STRING,
        "max_walltime": ValueKind.DURATION,
    }
)
"""Of a node's: cores and memory are those of one node, max_walltime is the queue's longest job."""

OF_JOBS: Kinds = MappingProxyType(
    {
        "nodes": ValueKind.NUMBER,
        "cpu": ValueKind.NUMBER,
        "cores": ValueKind.NUMBER,
        "mem": ValueKind.SIZE,
        "walltime": ValueKind.DURATION,
        "whole_node": ValueKind.BOOLEAN,
    }
)
"""What a queue may demand of jobs: cpu and mem are those of each node, cores those of all."""

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def property_name(written: str) -> str:
    """The name in small letters, as it is kept; raise ValueError where it can be no name."""
    name = written.lower()
    if not _NAME.fullmatch(name):
        raise ValueError(f"{written!r} is no name of a property (letters, digits and _ only, no digit first)")
    return name
