"""Types of answers as OpenAPI describes them."""

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import create_model

from cigri.text.plain import inlined


def schema_of(kind: Any) -> Any:
    """The same type, with a model in place of each named tuple, which is an object in our answers and no array."""
    if hasattr(kind, "_fields"):
        return _model(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return Union[tuple(schema_of(one) for one in inner)]  # noqa: UP007  # built of a tuple
    return origin[tuple(schema_of(one) for one in inner)] if origin in (list, dict) else kind


@cache
def _model(kind: Any) -> Any:
    return create_model(kind.__name__, __doc__=kind.__doc__, **_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    hints, fields = get_type_hints(kind), dict[str, Any]()
    for name in kind._fields:
        fields |= _fields(hints[name]) if name in inlined(kind) else {name: (schema_of(hints[name]), ...)}
    return fields
