"""Teaches schemathesis, in its own process, what is streamed to the portal: one JSON value a line."""

import json

import schemathesis
from schemathesis import SerializationContext


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: SerializationContext, value: object) -> bytes:
    values = value if isinstance(value, list) else [value]
    return b"".join(json.dumps(one, default=str).encode() + b"\n" for one in values)
