"""What the database holds of numbers and texts: others are refused in paths and queries, and OpenAPI says so.

Narrower bounds are told by OpenAPI alone: the endpoint refuses what is beyond them, in a sentence.
"""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import Field

from cigri.endpoints.parameters import NumberBounds
from cigri.endpoints.storable_values import LARGEST

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
    if origin is Annotated:
        return _bounded(with_limits(inner[0]), inner[1:])
    if origin is UnionType or origin is Union:
        return Union[tuple(with_limits(one) for one in inner)]  # noqa: UP007  # built of a tuple
    return list[with_limits(inner[0])] if origin is list else kind  # type: ignore[misc]  # it is a type at run time only


def with_bounds(kind: Any) -> Any:
    """The type of a parameter in a body, of which endpoints say themselves what the database does not hold."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _bounded(inner[0], inner[1:])
    return Union[tuple(map(with_bounds, inner))] if origin in (UnionType, Union) else kind  # noqa: UP007  # as above


def _bounded(kind: Any, told: tuple[Any, ...]) -> Any:
    """The same values, with the bounds in their schema."""
    bounds = next(one for one in told if isinstance(one, NumberBounds))
    schema: dict[str, Any] = {"exclusiveMinimum" if bounds.is_above else "minimum": bounds.least}
    if bounds.most is not None:
        schema["maximum"] = bounds.most
    return Annotated[kind, Field(json_schema_extra=schema)]
