"""The hours of operators: midnight, week ends, clocks that are put forward and back; pure."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from cigri.settings.operating_hours import HoursPeriod, OperatingHours, parse_hours

PARIS = ZoneInfo("Europe/Paris")
NIGHTS = ("mon-fri 19:00-07:00", "sat-sun")


def hours(*texts: str, zone: str = "Europe/Paris") -> OperatingHours:
    found = parse_hours(texts, zone)
    assert found is not None
    return found


def at(text: str) -> datetime:
    """By the clock in Paris, which in 2026 goes from 02:00 to 03:00 on March 29 and back on October 25."""
    return datetime.fromisoformat(text).replace(tzinfo=PARIS)


@pytest.mark.parametrize(
    ("now", "is_open", "until"),
    [
        ("2026-03-02T18:59", False, "2026-03-02T19:00"),  # a Monday
        ("2026-03-02T19:00", True, "2026-03-03T07:00"),
        ("2026-03-03T00:00", True, "2026-03-03T07:00"),
        ("2026-03-03T06:59", True, "2026-03-03T07:00"),
        ("2026-03-03T07:00", False, "2026-03-03T19:00"),
        ("2026-03-06T20:00", True, "2026-03-09T00:00"),  # from Friday on without a break
        ("2026-03-08T23:59", True, "2026-03-09T00:00"),
        ("2026-03-09T00:00", False, "2026-03-09T19:00"),  # nobody opened Monday morning
    ],
)
def test_nights_and_week_ends(now: str, is_open: bool, until: str) -> None:
    assert hours(*NIGHTS).at(at(now)) == HoursPeriod(is_open, at(until))


@pytest.mark.parametrize(
    ("text", "open_at", "closed_at"),
    [
        ("12:00-13:30", "2026-03-04T13:29", "2026-03-04T13:30"),
        ("sun 22:00-06:00", "2026-03-09T05:59", "2026-03-08T05:59"),
        ("fri-mon", "2026-03-09T23:59", "2026-03-10T00:00"),
        ("mon, wed-thu 08:00-24:00", "2026-03-05T23:59", "2026-03-06T00:00"),
        (" SAT 8:00 - 9:00 ", "2026-03-07T08:00", "2026-03-07T09:00"),
    ],
)
def test_what_may_be_written(text: str, open_at: str, closed_at: str) -> None:
    assert hours(text).at(at(open_at)).is_open
    assert not hours(text).at(at(closed_at)).is_open


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "'' is no window of time: write days, times or both, as 'mon-fri 19:00-07:00'"),
        ("always", "'always': 'always' is no day; days are mon, tue, wed, thu, fri, sat, sun"),
        ("mon-", "'mon-': '' is no day"),
        ("monday 8:00-9:00", "'monday' is no day"),
        ("mon 8-9", "is no window of time"),
        ("25:00-26:00", "25:00 is no time of day; times are 00:00 to 24:00"),
        ("8:60-9:00", "8:60 is no time of day"),
        ("24:00-06:00", "is never open; the whole day is 00:00-24:00"),
        ("08:00-08:00", "is never open"),
    ],
)
def test_what_may_not_be_written_is_told_with_what_was_expected(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_hours([text], "UTC")


@pytest.mark.parametrize("zone", ["Paris", "", "../etc/passwd", "Europe"])
def test_an_unknown_time_zone_is_told(zone: str) -> None:
    with pytest.raises(ValueError, match="names are as Europe/Paris or UTC"):
        parse_hours(NIGHTS, zone)


def test_no_window_is_no_hours() -> None:
    assert parse_hours([], "UTC") is None


@pytest.mark.parametrize("texts", [["mon-sun"], ["00:00-24:00"], ["06:00-18:00", "18:00-06:00"]])
def test_what_is_open_all_week_never_closes(texts: list[str]) -> None:
    for day in range(1, 15):
        assert hours(*texts).at(at(f"2026-03-{day:02}T18:00")) == HoursPeriod(True, None)
        assert hours(*texts).fits(at(f"2026-03-{day:02}T05:59"), 400 * 86400)


def test_a_job_fits_to_the_last_second() -> None:
    evening = at("2026-03-02T22:00")
    assert hours(*NIGHTS).fits(evening, 9 * 3600)
    assert not hours(*NIGHTS).fits(evening, 9 * 3600 + 1)
    assert not hours(*NIGHTS).fits(at("2026-03-02T18:00"), 1)


def test_a_night_is_an_hour_shorter_when_the_clock_is_put_forward() -> None:
    night = hours("22:00-06:00")
    begin = at("2026-03-28T22:00")
    assert night.fits(begin, 7 * 3600)
    assert not night.fits(begin, 7 * 3600 + 1)
    assert night.at(datetime(2026, 3, 29, 3, 59, tzinfo=UTC)) == HoursPeriod(True, at("2026-03-29T06:00"))
    assert not night.at(datetime(2026, 3, 29, 4, 0, tzinfo=UTC)).is_open


def test_a_night_is_an_hour_longer_when_the_clock_is_put_back() -> None:
    night = hours("22:00-06:00")
    begin = at("2026-10-24T22:00")
    assert night.fits(begin, 9 * 3600)
    assert not night.fits(begin, 9 * 3600 + 1)


def test_a_time_that_the_clock_skips_is_when_it_goes_on() -> None:
    assert hours("02:30-05:00").at(at("2026-03-29T00:00")).until == at("2026-03-29T03:30")
    assert hours("01:00-02:30").at(at("2026-03-29T01:30")) == HoursPeriod(True, at("2026-03-29T03:30"))


def test_the_longest_opening_joins_windows() -> None:
    now = at("2026-03-04T12:00")
    assert hours(*NIGHTS).longest(now) == timedelta(days=2, hours=5)
    assert hours("22:00-06:00").longest(now) == timedelta(hours=8)


def test_times_are_those_of_the_zone() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    assert hours("14:00-15:00").at(noon).is_open
    assert not hours("14:00-15:00", zone="UTC").at(noon).is_open
    assert hours("08:00-09:00", zone="America/New_York").at(noon).is_open
