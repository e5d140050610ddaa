"""What a property's value may be, and the properties that every queue's nodes may have without being declared."""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

Scalar = bool | int | float | str
Value = Scalar | list[Scalar]
"""Of a property, as JSON keeps it: sizes are bytes, durations seconds."""


class Kind(StrEnum):
    """SIZE: bytes, in powers of 1024. DURATION: seconds. VERSION: text whose numbers are compared as numbers."""

    NUMBER = "number"
    SIZE = "size"
    DURATION = "duration"
    STRING = "string"
    BOOLEAN = "boolean"
    VERSION = "version"


Kinds = Mapping[str, Kind]
"""By the names of properties."""

AMOUNT_KINDS = frozenset({Kind.NUMBER, Kind.SIZE, Kind.DURATION})
"""Of these a node has so much, and what wants less is content too."""

BUILT_IN: Kinds = MappingProxyType(
    {
        "site": Kind.STRING,
        "cluster": Kind.STRING,
        "queue": Kind.STRING,
        "platform": Kind.STRING,
        "cores": Kind.NUMBER,
        "memory": Kind.SIZE,
        "gpus": Kind.NUMBER,
        "features": Kind.STRING,
        "max_walltime": Kind.DURATION,
    }
)
"""Of a node's: cores and memory are those of one node, max_walltime is the queue's longest job."""

OF_JOBS: Kinds = MappingProxyType(
    {
        "nodes": Kind.NUMBER,
        "cpu": Kind.NUMBER,
        "cores": Kind.NUMBER,
        "mem": Kind.SIZE,
        "walltime": Kind.DURATION,
        "whole_node": Kind.BOOLEAN,
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
