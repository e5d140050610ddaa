"""The time of a virtual database is what was set, in every statement and on every connection; that of others is not."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import ProgrammingError

from cigri.database import Database, virtual
from cigri.database.virtual import VirtualTimeDatabase
from tests.factories import NOON

MOMENT = NOON + timedelta(microseconds=123456)
Way = Callable[[Database], AbstractContextManager[Connection]]


def time_in(conn: Connection) -> datetime:
    return conn.execute(select(func.now())).scalar_one()


def time_of(database: Database) -> datetime:
    with database.begin() as conn:
        return time_in(conn)


@pytest.mark.parametrize("way", [Database.begin, Database.read, Database.snapshot])
def test_each_way_to_it_is_told_the_time_that_was_set_last(database: VirtualTimeDatabase, way: Way) -> None:
    for moment in (MOMENT, MOMENT + timedelta(days=1), MOMENT):
        database.set_time(moment)
        with way(database) as conn:
            assert time_in(conn) == moment
            assert conn.scalar(text("SELECT now() - interval '1 s'")) == moment - timedelta(seconds=1)


def test_until_then_it_is_the_servers(database: VirtualTimeDatabase) -> None:
    with database.begin() as conn:
        assert conn.scalar(text("SELECT now() = pg_catalog.now()"))


def test_a_time_zone_of_another_is_understood(database: VirtualTimeDatabase) -> None:
    database.set_time(datetime.fromisoformat("2026-03-01T13:00:00+01:00"))
    assert time_of(database) == NOON


def test_several_connections_are_told(database: VirtualTimeDatabase) -> None:
    database.set_time(NOON)
    with database.begin() as one, database.begin() as two:
        assert time_in(one) == time_in(two) == NOON
        database.set_time(MOMENT)
        assert time_in(one) == NOON  # as that of a real transaction stands still
    with database.begin() as one, database.begin() as two:
        assert time_in(one) == time_in(two) == MOMENT


def test_what_is_rolled_back_takes_no_time_back(database: VirtualTimeDatabase) -> None:
    database.set_time(NOON)
    assert time_of(database) == NOON
    database.set_time(MOMENT)
    with pytest.raises(ZeroDivisionError), database.begin() as conn:
        raise ZeroDivisionError(time_in(conn))
    assert time_of(database) == MOMENT


def test_a_connection_is_told_once(database: VirtualTimeDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    database.set_time(NOON)
    assert time_of(database) == NOON
    monkeypatch.setattr(virtual, "TELL", "not to be said")
    assert time_of(database) == NOON


def test_defaults_and_long_reckonings_go_by_it(database: VirtualTimeDatabase) -> None:
    database.set_time(NOON)
    with database.begin() as conn:
        conn.exec_driver_sql("CREATE TABLE notes (n int, at timestamptz DEFAULT now())")
        conn.exec_driver_sql("INSERT INTO notes SELECT generate_series(1, 1000)")
        conn.exec_driver_sql("ANALYZE notes")
        assert conn.scalar(text("SELECT count(*) FROM notes WHERE at = now() AND at <= now()")) == 1000


def test_the_time_is_no_call_of_a_function_for_each_row(database: VirtualTimeDatabase) -> None:
    with database.begin() as conn:
        plan: Any = conn.scalars(text("EXPLAIN VERBOSE SELECT 1 FROM events WHERE opened_at < now()"))
        assert "virtual.now" not in "".join(plan)


def test_a_database_that_is_not_virtual_knows_nothing_of_it(database: VirtualTimeDatabase) -> None:
    database.set_time(NOON)
    real = Database(database.url)
    assert abs(time_of(real) - datetime.now(UTC)) < timedelta(hours=1)
    real.close()


def test_where_there_is_no_clock_no_other_time_is_taken_for_it(empty_url: str) -> None:
    database = VirtualTimeDatabase(empty_url)
    database.set_time(NOON)
    with pytest.raises(ProgrammingError, match="virtual"), database.begin():
        pass
    database.close()
