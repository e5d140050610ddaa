"""Long lists are told in pages, and each page says how to go on: by the key of its last row, never by an offset."""

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from cigri.endpoints.parameters import NumberBounds
from cigri.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cigri.endpoints import Endpoint
    from cigri.endpoints.dispatch import EndpointReader

T = TypeVar("T")

LONGEST_PAGE = 10_000  # rows
USUAL_ROWS = 1000  # in a page, where nothing is said and rows are small
PageLimit = Annotated[int, NumberBounds(1, LONGEST_PAGE)]
AFTER = "after"
BEFORE_ALL = -1  # the first row has the number 0


class UnfinishedPage(list[T]):
    """A page behind which the list goes on, however few rows it has: it would be too large with more."""


class Pagination(NamedTuple):
    """The next page is asked for by `parameter`: the value of `field` in the last row, or in the first one, backwards.

    Without a field rows are counted: `parameter` is the number of the last one.
    """

    parameter: str
    field: str = "id"
    is_backwards: bool = False

    def next_of(self, page: list[Any], since: Any) -> Any:
        """The parameter's value behind this page, which was asked for with `since`."""
        if not self.field:
            return (BEFORE_ALL if since is None else since) + len(page)
        return attrgetter(self.field)(page[0 if self.is_backwards else -1])


FORWARDS = Pagination(AFTER)
BACKWARDS = Pagination("before", is_backwards=True)
"""The page is the end of the list, the one asked for next is what stands before it."""


def is_last(page: list[Any], limit: int) -> bool:
    """Does the list end with this page, which was asked for with `limit`?"""
    return len(page) < limit and not isinstance(page, UnfinishedPage)


def require_limit(limit: int) -> None:
    """Raise UsageError for a page that nobody is told."""
    if not 0 < limit <= LONGEST_PAGE:
        raise UsageError(
            f"limit {limit}: a page has 1 to {LONGEST_PAGE} rows; the header Link says how to go on", "limit"
        )


def pages(grid: "EndpointReader", endpoint: "Endpoint[..., list[T]]", limit: int, **asked: Any) -> "Iterator[list[T]]":
    """One page after the other, forwards."""
    paging = endpoint.paging
    assert paging is not None
    while page := grid.call(endpoint, **asked, limit=limit):
        yield page
        if is_last(page, limit):
            return
        asked[paging.parameter] = paging.next_of(page, asked.get(paging.parameter))


def walk(grid: "EndpointReader", endpoint: "Endpoint[..., list[T]]", most: int | None = None, **asked: Any) -> list[T]:
    """At most so many rows, of as many pages as it takes; None: all."""
    paging = endpoint.paging
    assert paging is not None
    rows: list[T] = []
    while most is None or len(rows) < most:
        limit = LONGEST_PAGE if most is None else min(LONGEST_PAGE, most - len(rows))
        page = grid.call(endpoint, **asked, limit=limit)
        rows = [*page, *rows] if paging.is_backwards else [*rows, *page]
        if is_last(page, limit):
            break
        asked[paging.parameter] = paging.next_of(page, asked.get(paging.parameter))
    return rows
