"""Rows become named tuples by name: columns of another name, order or type are refused, whatever they hold."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from sqlalchemy import ARRAY, BigInteger, Text, cast, func, insert, literal, null, select, type_coerce
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.sql.elements import ColumnElement

from cigri.database import Database
from cigri.database.typed_rows import read_all, read_by, read_one
from cigri.states import EventLevel
from cigri.tables.grid import Event, Project


class Parcel(NamedTuple):
    """What the statements below select."""

    sender: str
    weight: int
    level: EventLevel
    stamps: list[int]
    papers: Mapping[str, Any]
    sent_at: datetime | None


class Named(NamedTuple):
    id: int
    name: str


class Sent(NamedTuple):
    number: int
    by: Named
    tries: int


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
COLUMNS: dict[str, ColumnElement[Any]] = {
    "sender": literal("ada", Text),
    "weight": literal(3, BigInteger),
    "level": literal(EventLevel.INFO, Event.c.level.type),
    "stamps": cast([7, 8], ARRAY(BigInteger)),
    "papers": cast({"to": "bob"}, JSONB),
    "sent_at": literal(NOON, TIMESTAMP(timezone=True)),
}
PARCEL = Parcel("ada", 3, EventLevel.INFO, [7, 8], {"to": "bob"}, NOON)


def parcel(**changed: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    return [column.label(name) for name, column in (COLUMNS | changed).items()]


def wrong(database: Database, columns: list[ColumnElement[Any]]) -> str:
    with database.begin() as conn, pytest.raises(TypeError) as refused:
        read_all(conn, Parcel, select(*columns))
    return str(refused.value)


def test_columns_that_are_the_fields_make_the_tuple(database: Database) -> None:
    nobody = {"sent_at": type_coerce(null(), TIMESTAMP(timezone=True))}
    with database.begin() as conn:
        assert read_all(conn, Parcel, select(*parcel())) == [PARCEL]
        assert read_one(conn, Parcel, select(*parcel(**nobody))) == PARCEL._replace(sent_at=None)
        assert read_one(conn, Parcel, select(*parcel()).where(literal(1) == 2)) is None


def test_a_swapped_pair_is_refused(database: Database) -> None:
    sender, weight, *others = parcel()
    said = wrong(database, [weight, sender, *others])
    assert "column 1 is weight (BIGINT), not sender: str" in said
    assert "column 2 is sender (TEXT), not weight: int" in said
    assert "tests.test_typed_rows.Parcel" in said
    assert "column 3" not in said


def test_a_swapped_pair_of_one_type_is_refused(database: Database) -> None:
    with database.begin() as conn, pytest.raises(TypeError, match="column 1 is name"):
        read_all(conn, Named, select(Project.c.name, Project.c.id))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("sender", literal(3, BigInteger)),
        ("weight", literal("3", Text)),
        ("weight", func.floor(2.5)),
        ("weight", literal(True)),
        ("level", literal("info", Text)),
        ("stamps", cast(["7"], ARRAY(Text))),
        ("stamps", literal(7, BigInteger)),
        ("papers", literal("{}", Text)),
        ("sent_at", literal("noon", Text)),
        ("sent_at", null()),
    ],
    ids=str,
)
def test_a_wrong_type_is_refused(database: Database, name: str, column: ColumnElement[Any]) -> None:
    assert f"is {name} (" in wrong(database, parcel(**{name: column}))


def test_a_column_without_a_label_is_refused(database: Database) -> None:
    assert "column 1 is without a label (TEXT)" in wrong(database, [func.lower("ADA", type_=Text), *parcel()[1:]])


def test_a_missing_column_is_refused(database: Database) -> None:
    assert "there is no column for sent_at" in wrong(database, parcel()[:-1])


def test_one_column_more_is_refused(database: Database) -> None:
    said = wrong(database, [*parcel(), literal(1, BigInteger).label("more")])
    assert "column 7, more (BIGINT), is too many" in said


def test_rows_by_their_first_column(database: Database) -> None:
    keyed = select(literal(5, BigInteger).label("id"), *parcel())
    with database.begin() as conn:
        assert read_by(conn, "id", Parcel, keyed) == {5: PARCEL}
        with pytest.raises(TypeError, match="column 1 is id"):
            read_by(conn, "number", Parcel, keyed)


def test_fields_that_are_computed_have_no_column(database: Database) -> None:
    bare = [column for column in parcel() if column.key != "weight"]
    statement = select(*bare, literal(2.5).label("exact"))
    with database.begin() as conn:
        assert read_all(conn, Parcel, statement, weight=lambda row: round(row.exact)) == [PARCEL._replace(weight=2)]
        with pytest.raises(TypeError, match="it has no field colour"):
            read_all(conn, Parcel, statement, weight=lambda row: 2, colour=lambda row: "red")
        with pytest.raises(TypeError, match="column 2 is level"):
            read_all(conn, Parcel, statement, papers=lambda row: {})


def test_a_field_that_is_a_named_tuple_has_the_columns_of_its_own_fields(database: Database) -> None:
    first, last = literal(1, BigInteger), literal(2, BigInteger)
    inside: list[ColumnElement[Any]] = [first.label("id"), literal("carrier", Text).label("name")]
    with database.begin() as conn:
        statement = select(last.label("number"), *inside, first.label("tries"))
        assert read_all(conn, Sent, statement) == [Sent(2, Named(1, "carrier"), 1)]
        computed = select(*inside, first.label("tries"))
        assert read_all(conn, Sent, computed, number=lambda row: 7) == [Sent(7, Named(1, "carrier"), 1)]
        with pytest.raises(TypeError, match="column 2 is name"):
            read_all(conn, Sent, select(last.label("number"), *inside[::-1], first.label("tries")))


def test_what_is_written_is_read_as_well(database: Database) -> None:
    written = insert(Project).values(name="comets").returning(Project.c.id, Project.c.name)
    with database.begin() as conn:
        (project,) = read_all(conn, Named, written)
        assert project == Named(project.id, "comets")


def test_columns_are_compared_once_for_a_shape(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counting(*_: object) -> list[str]:
        nonlocal compared
        compared += 1
        return []

    monkeypatch.setattr("cigri.database.typed_rows.misfits", counting)
    with database.begin() as conn:
        for number in range(3):
            once = select(Project.c.id, Project.c.name, literal(number).label("shape")).where(Project.c.id == number)
            read_all(conn, Named, once)
    assert compared == 1
