"""One idea of durations, sizes and dates: what is written is read again as the same."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cigri.formats.units import (
    DAY,
    HOUR,
    MEGABYTE,
    as_clock,
    as_duration,
    as_local,
    as_size,
    as_utc,
    exact_duration,
    in_seconds,
    read_date,
    read_duration,
)


@given(st.integers(0, 10**9))
def test_what_is_written_of_a_duration_is_read_as_the_same(seconds: int) -> None:
    assert read_duration(as_clock(seconds)) == read_duration(exact_duration(seconds)) == seconds


@given(st.floats(0, 1e9))
def test_a_duration_for_people_is_off_by_no_more_than_half_of_its_smaller_unit(seconds: float) -> None:
    words = as_duration(seconds).split()
    told = sum(float(read_duration(" ".join(words[at : at + 2])) or 0) for at in range(0, len(words), 2))
    smaller = 0.01 if told < 60 else 1 if told < HOUR else 60 if told < DAY else HOUR
    assert abs(told - seconds) <= smaller / 2 + 1e-6


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (45.5, "45.5 s"),
        (59.996, "1 min"),
        (119.6, "2 min"),
        (3599.7, "1 h"),
        (5400, "1 h 30 min"),
        (86399, "1 d"),
        (90000, "1 d 1 h"),
    ],
)
def test_durations_are_told_in_their_two_largest_units(seconds: float, text: str) -> None:
    assert as_duration(seconds) == text


def test_what_others_leave_out_of_a_duration_is_nothing() -> None:
    assert in_seconds("1", None, "2", None) == DAY + 120
    assert in_seconds(None, "", "", "7") == 7


def test_sizes_are_told_in_powers_of_1024() -> None:
    assert [as_size(size) for size in (0, 512, 100 * MEGABYTE, 1536 * MEGABYTE)] == ["0 B", "512 B", "100 MB", "1.5 GB"]


@pytest.mark.parametrize(
    "text", ["2026-12-01T08:00Z", "2026-12-01 08:00:00", "2026-12-01 09:00 +01:00", " 2026-12-01 08:00+00:00"]
)
def test_a_date_is_read_however_iso_8601_writes_it(text: str) -> None:
    assert read_date(text, UTC) == datetime(2026, 12, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "2026-12-01\0", "\ud800"])
def test_what_is_no_date_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no date \(write 2026-12-01T08:00"):
        read_date(text, UTC)


@pytest.mark.parametrize(("text", "zone"), [("0001-01-01", "Pacific/Auckland"), ("9999-12-31T23:59", "America/Lima")])
def test_a_date_that_no_calendar_has_everywhere_is_none_either(
    text: str, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    with pytest.raises(ValueError, match="is no date"):
        read_date(text, None)
    monkeypatch.undo()
    time.tzset()


def test_a_date_is_told_to_many_in_utc_and_to_one_reader_by_the_clock_of_the_host() -> None:
    date = datetime(2026, 12, 1, 9, tzinfo=timezone(timedelta(hours=1)))
    assert as_utc(date) == "2026-12-01 08:00:00 UTC"
    assert as_local(date) == f"{date.astimezone():%Y-%m-%d %H:%M:%S}"
