"""What the database holds of numbers and texts: others are refused before it is asked."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import Field

from cigri.errors import UsageError

LARGEST = 10**18  # with what is added to it, it still is a bigint
WITHOUT_NUL = r"^[^\x00]*$"


PlainNumber = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
PlainText = Annotated[str, Field(pattern=WITHOUT_NUL)]


def with_limits(kind: Any) -> Any:
    """The type of a parameter, with these bounds in it."""
    if kind is int:
        return PlainNumber
    if kind is str:
        return PlainText
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return Union[tuple(with_limits(one) for one in inner)]  # noqa: UP007  # built of a tuple
    return list[with_limits(inner[0])] if origin is list else kind  # type: ignore[misc]  # it is a type at run time only


def require_storable(place: str, value: object) -> None:
    """Raise UsageError for a number or a text, however deep in the value of a body, that the database cannot hold."""
    match value:
        case int() if abs(value) > LARGEST:
            raise UsageError(f"{place}: numbers go from {-LARGEST} to {LARGEST}")
        case str() if "\0" in value or not _is_utf8(value):
            raise UsageError(f"{place}: neither NUL nor half a character (a lone surrogate) can be in a text")
        case Mapping():
            for name, inner in value.items():
                require_storable(place, name)
                require_storable(f"{place}.{name}", inner)
        case list() | tuple():
            for number, inner in enumerate(value):
                require_storable(f"{place}[{number}]", inner)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
