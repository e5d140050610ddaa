"""An answer is the same named tuple on both sides of the portal."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, NamedTuple

import pytest

from cigri.formats.json_values import INLINE, from_json_value, to_json_value


class Colour(StrEnum):
    RED = "red"


class Inner(NamedTuple):
    id: int
    at: datetime | None
    colour: Colour


class Outer(NamedTuple):
    inner: Annotated[Inner, INLINE]
    inners: list[Inner]
    by_number: dict[int, float]


INNER = Inner(1, datetime(2026, 3, 1, tzinfo=UTC), Colour.RED)
OUTER = Outer(INNER, [INNER._replace(at=None)], {3: 1.0})
PLAIN = {
    "id": 1,
    "at": "2026-03-01T00:00:00+00:00",
    "colour": "red",
    "inners": [{"id": 1, "at": None, "colour": "red"}],
    "by_number": {"3": 1.0},
}


def test_the_fields_of_an_inline_field_stand_beside_the_others() -> None:
    assert to_json_value(OUTER) == PLAIN


def test_what_was_made_plain_becomes_what_it_was() -> None:
    assert from_json_value(Outer, PLAIN) == OUTER
    assert isinstance(from_json_value(Outer, PLAIN).inner.colour, Colour)


def test_what_a_newer_portal_adds_is_left_out() -> None:
    assert from_json_value(Outer, PLAIN | {"new": 1}) == OUTER


@pytest.mark.parametrize("wrong", [{}, [], None, PLAIN | {"colour": "blue"}])
def test_what_is_something_else_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"this is no Outer|blue"):
        from_json_value(Outer, wrong)
