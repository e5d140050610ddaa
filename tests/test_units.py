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
    as_instant,
    as_local,
    as_size,
    as_utc,
    exact_duration,
    in_seconds,
    localised,
    read_date,
    read_duration,
    split_instants,
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


@given(st.integers(0, 10**9))
def test_what_people_are_told_of_a_duration_may_be_written(seconds: int) -> None:
    assert as_duration(float(read_duration(as_duration(seconds)) or 0)) == as_duration(seconds)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1h30min", 5400), ("1 d 2 h 3 min 4.5 s", 93784.5), ("2 h 1 d", None), ("1 h 2 h", None), ("1 h 2", None)],
)
def test_several_amounts_are_a_duration_where_each_is_of_a_smaller_unit(text: str, seconds: float | None) -> None:
    assert read_duration(text) == seconds


def test_the_unit_m_is_refused_among_several_too() -> None:
    with pytest.raises(ValueError, match="'m' is milli"):
        read_duration("1 h 30 m")


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


@pytest.mark.parametrize(
    "odd",
    [
        "9999-99-99T99:99:99+00:00",
        "2026-02-30T08:00:00+00:00",
        "2026-12-01T24:61:00+00:00",
        "0000-01-01T00:00:00+00:00",
    ],
)
def test_what_looks_like_an_instant_and_is_none_stays_text(odd: str) -> None:
    assert localised(f"it wrote {odd}, {odd}") == f"it wrote {odd}, {odd}"
    there = datetime(2026, 12, 1, 8, tzinfo=UTC)
    assert list(split_instants(f"{odd} at {as_instant(there)}.")) == [f"{odd} at ", there, "."]


@pytest.mark.parametrize("stored", ["2026-12-01T08:00:00+00:00", "2026-12-01 08:00:00 UTC"])
def test_a_date_in_a_stored_sentence_is_told_by_the_clock_of_its_reader(
    stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    told = localised(f"set aside until {stored}, then one job tries again")
    monkeypatch.undo()
    time.tzset()
    assert told == "set aside until 2026-12-01 09:00:00, then one job tries again"


@pytest.mark.parametrize("other", ["2026-12-01T08:00:00 UTC", "2026-12-01 08:00:00+00:00", "2026-12-01 08:00:00 UTCX"])
def test_what_others_wrote_otherwise_is_left_as_it_is(other: str) -> None:
    assert localised(other) == other


@given(st.text(st.sampled_from("0129T:-+. "), max_size=60), st.datetimes(timezones=st.just(UTC)))
def test_no_text_is_lost_or_raises_where_instants_are_looked_for(text: str, instant: datetime) -> None:
    sentence = f"{text}{instant.isoformat(timespec='seconds')}{text}"
    parts = split_instants(sentence)
    assert "".join(part if isinstance(part, str) else as_instant(part) for part in parts) == sentence
    assert isinstance(localised(sentence), str)
