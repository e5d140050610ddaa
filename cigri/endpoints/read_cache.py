"""Of one instant the same question has one answer: what several parts of a page ask is read once."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from cigri.endpoints import P, R

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SEEN = "cigri_seen"


def remembering(conn: "Connection") -> "Connection":
    """For a snapshot that changes nothing; what is remembered ends with it."""
    return conn.execution_options(**{_SEEN: {}})


def once_an_instant(
    function: "Callable[Concatenate[Connection, P], R]",
) -> "Callable[Concatenate[Connection, P], R]":
    """What it gives is shared by all who ask in the same instant, and changed by none of them."""

    @wraps(function)
    def read(conn: "Connection", /, *args: P.args, **asked: P.kwargs) -> R:
        seen: dict[Any, R] | None = conn.get_execution_options().get(_SEEN)
        if seen is None:
            return function(conn, *args, **asked)
        question = (function, args, tuple(asked.items()))
        if question not in seen:
            seen[question] = function(conn, *args, **asked)
        return seen[question]

    return read
