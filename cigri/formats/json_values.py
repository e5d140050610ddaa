"""Answers as JSON has them, and back: named tuples are objects, dates ISO 8601."""

from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

INLINE = "inline"
"""`Annotated[Some, INLINE]`, of a field that is a named tuple: in JSON its fields stand beside the others."""


def to_json_value(value: Any) -> Any:
    """For json.dumps: dicts, lists, text, numbers, booleans and None."""
    if hasattr(value, "_asdict"):
        return _object(value)
    if isinstance(value, dict):
        return {str(key): to_json_value(field) for key, field in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json_value(element) for element in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    return value if isinstance(value, (str, int, float, bool, NoneType)) else str(value)


def _object(value: Any) -> dict[str, Any]:
    kind: Any = type(value)
    inline, told = inlined(kind), dict[str, Any]()
    for name, field in value._asdict().items():
        told |= to_json_value(field) if name in inline else {name: to_json_value(field)}
    return told


def from_json_value(kind: type[T], value: Any) -> T:
    """What `to_json_value` was made of, a value of `kind`; fields that a newer portal adds are left out.

    Raise ValueError for what is no such value.
    """
    try:
        return _typed(kind, value)  # type: ignore[no-any-return]  # `kind` says it
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no {getattr(kind, '__name__', kind)}: {error!r}") from error


def _typed(kind: Any, value: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else _typed(next(kind for kind in inner if kind is not NoneType), value)
    if hasattr(kind, "_fields"):
        inline = inlined(kind)
        return kind(**{n: _typed(hint, value if n in inline else value[n]) for n, hint in _hints(kind).items()})
    if origin in (list, tuple, set, frozenset):
        return origin(_typed(inner[0], element) for element in value)
    if origin is dict:
        return {_key(inner[0], key): _typed(inner[1], field) for key, field in value.items()}
    if kind is datetime:
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return float(value) if kind is float else value


def _key(kind: Any, text: str) -> Any:
    return int(text) if kind is int else _typed(kind, text)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind._fields}


@cache
def inlined(kind: Any) -> frozenset[str]:
    """The fields of a named tuple whose own fields stand beside them in JSON."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name in kind._fields if INLINE in getattr(hints.get(name), "__metadata__", ()))
