"""Words of a page's address that mean nothing there: they are refused, as those of the API are."""

from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Annotated, Any, get_args, get_origin

from fastapi import Request, params
from pydantic import BaseModel

from cigri.errors import UsageError

LONGEST_STRANGE_WORD = 60  # characters that are told of a word


def known_words(path: str, serve: Callable[..., Any]) -> list[str]:
    """Return what a page with this path takes behind the question mark, by the parameters of the function."""
    words = [word for parameter in signature(serve).parameters.values() for word in _words_of(parameter)]
    return [word for word in words if f"{{{word}}}" not in path]


def refuse_unknown(path: str, serve: Callable[..., Any]) -> Callable[[Request], None]:
    """Return what raises UsageError for any other word; it is called before the page is made."""
    known = known_words(path, serve)

    def refuse(request: Request) -> None:
        strange = [word for word in request.query_params if word not in known]
        if strange:
            there = f"there are {', '.join(known)}" if known else "this page takes none"
            raise UsageError(f"{strange[0][:LONGEST_STRANGE_WORD]!r} in the address is not known here; {there}")

    return refuse


def _words_of(parameter: Parameter) -> Iterator[str]:
    kind = parameter.annotation
    kind, *told = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if any(isinstance(one, params.Depends) for one in told):
        return  # what the portal gives itself
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from kind.model_fields
    elif kind is not Request:
        yield parameter.name
