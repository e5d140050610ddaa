"""Back-off: twice as long after each failure, and the same in Python as in PostgreSQL."""

from datetime import timedelta

import pytest
from sqlalchemy import Integer, literal, select

from cigri.database import Database, pause_after
from cigri.estimates import backoff
from cigri.estimates.backoff import BackOff

KINDS = [value for value in vars(backoff).values() if isinstance(value, BackOff)]


def test_a_pause_doubles_until_it_is_as_long_as_any() -> None:
    kind = BackOff(5.0, 60.0)
    assert [kind.seconds(failures) for failures in (1, 2, 3, 4, 5, 6, 10**6)] == [5, 10, 20, 40, 60, 60, 60]
    assert kind.seconds(0) == 5
    assert BackOff(90.0, 60.0).seconds(1) == 60


def test_a_number_of_failures_that_nobody_has_seen_is_no_overflow() -> None:
    for kind in KINDS:
        assert timedelta(seconds=kind.seconds(10**9)) > timedelta(seconds=kind.first)


@pytest.mark.parametrize("kind", [*KINDS, BackOff(90.0, 60.0)])
def test_postgresql_reckons_as_python_does(kind: BackOff, database: Database) -> None:
    with database.begin() as conn:
        for failures in (0, 1, 2, 7, 30, 2**31 - 1):
            pause = conn.scalar(select(pause_after(literal(failures, Integer), kind)))
            assert pause == timedelta(seconds=kind.seconds(failures))
