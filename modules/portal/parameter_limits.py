"""What the database holds of numbers and texts: others are refused in paths and queries, and OpenAPI says so."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import Field

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
    if origin is UnionType:
        return Union[tuple(with_limits(one) for one in inner)]  # noqa: UP007  # built of a tuple
    return list[with_limits(inner[0])] if origin is list else kind  # type: ignore[misc]  # it is a type at run time only
