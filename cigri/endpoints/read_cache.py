"""What is asked again is not read again: by several parts of a page, or by the next reader of what has not changed."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import datetime
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate

from cigri.endpoints import P, R

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

MOST_ANSWERS = 100
_SEEN, _LATEST = "cigri_seen", "cigri_latest"


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


@once_an_instant
def instant_of(conn: "Connection") -> datetime:
    """The time of the grid, which is one in all of a transaction."""
    from cigri.flow.views.campaigns import grid_time

    return grid_time(conn)


class LatestAnswers:
    """The answers to the questions that were asked last, each with the mark of what it was made from."""

    def __init__(self, most: int = MOST_ANSWERS) -> None:
        self._most, self._lock = most, Lock()
        self._answers: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()

    def find(self, question: Hashable, mark: Hashable, calculate: Callable[[], R]) -> R:
        """Return the answer with that mark, which is calculated where there is none; the one asked longest ago goes."""
        with self._lock:
            known = self._answers.get(question)
            if known is not None and known[0] == mark:
                self._answers.move_to_end(question)
                answer: R = known[1]
                return answer
        answer = calculate()
        with self._lock:
            self._answers[question] = mark, answer
            self._answers.move_to_end(question)
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return answer


def keep_latest_answers(engine: "Engine") -> None:
    """Let what `while_unchanged` gives to one reader be there for the next one in this process."""
    engine.update_execution_options(**{_LATEST: LatestAnswers()})


def while_unchanged(conn: "Connection", question: Hashable, mark: Hashable, calculate: Callable[[], R]) -> R:
    """An answer that holds as long as its mark does; it is shared, and changed by nobody."""
    latest: LatestAnswers | None = conn.get_execution_options().get(_LATEST)
    return calculate() if latest is None else latest.find(question, mark, calculate)
