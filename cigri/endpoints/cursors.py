"""Lists whose rows have no number: where a page ends is told by the key of its last row, written as a cursor.

A cursor names its list, so that no other list goes on from it, and holds the values of the key: who asks sends it back
as it came. A row that has gone meanwhile is no less a place between two others.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

from cigri.endpoints.paging import AFTER, require_limit
from cigri.endpoints.storable_values import require_storable
from cigri.errors import UsageError

T = TypeVar("T")
RowKey = tuple[Any, ...]

DESCENDING = "-"


@dataclass(frozen=True)
class KeyPagination:
    """Rows are sorted by `fields`, which no two have alike; the next page is asked for by the last one's cursor."""

    of: str
    """The name of the list."""
    fields: Mapping[str, type]
    """By the place of each in a row, what it is: str, int or datetime. With a minus true ones come first."""

    @property
    def parameter(self) -> str:
        return AFTER

    @property
    def is_backwards(self) -> bool:
        return False

    def next_of(self, page: list[Any], _since: Any) -> str:
        """The cursor of the last row."""
        key = [value.isoformat() if isinstance(value, datetime) else value for value in self.key_of(page[-1])]
        text = json.dumps([self.of, *key], ensure_ascii=False, separators=(",", ":"))
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def key_of(self, row: Any) -> RowKey:
        """What nobody has is "" in it."""
        return tuple(_value(row, field) for field in self.fields)

    def read(self, cursor: str) -> RowKey | None:
        """The key behind which the page begins; None: the list's beginning. Raise UsageError for no cursor of it."""
        if not cursor:
            return None
        try:
            said = json.loads(urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, list) or not said or not isinstance(said[0], str):
            raise _refusal("that is no cursor")
        if said[0] != self.of:
            raise _refusal(f"that is a cursor of another list than {self.of}")
        if len(said) != len(self.fields) + 1:
            raise _refusal("that is no cursor of this list")
        require_storable({self.parameter: said})
        return tuple(_read(value, kind) for value, kind in zip(said[1:], self.fields.values(), strict=True))


def page_of(rows: Iterable[T], paging: KeyPagination, after: str, limit: int) -> list[T]:
    """Sort the rows by their keys, and give those of one page."""
    require_limit(limit)
    since, ordered = paging.read(after), sorted(rows, key=paging.key_of)
    first = 0 if since is None else bisect_right(ordered, since, key=paging.key_of)
    return ordered[first : first + limit]


def _value(row: Any, field: str) -> Any:
    value = attrgetter(field.removeprefix(DESCENDING))(row)
    if field.startswith(DESCENDING):
        return -int(value)
    return "" if value is None else value


def _read(value: object, kind: type) -> Any:
    if kind is datetime:
        return _instant(value)
    if not isinstance(value, kind):
        raise _refusal("that is no cursor of this list")
    return value


def _instant(value: object) -> Any:
    if value == "":
        return value
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise _refusal("that is no cursor of this list")
    return instant


def _refusal(why: str) -> UsageError:
    return UsageError(f"{why}; take it from the header Link of the page before, or leave it out", AFTER)
