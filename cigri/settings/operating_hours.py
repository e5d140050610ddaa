"""The hours in which an operator lets the grid have a cluster: "mon-fri 19:00-07:00", "sat-sun"; `now` is given."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cigri.formats.units import DAY, MINUTE

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EXPECTED = "write days, times or both, as 'mon-fri 19:00-07:00', 'sat-sun' or '22:00-06:00'"
MINUTES = DAY // MINUTE
HORIZON = timedelta(days=8)  # what is open for longer than a week never closes

_WINDOW = re.compile(r"([a-z][a-z,\s-]*?)?\s*(?:(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d))?")


class HoursWindow(NamedTuple):
    """Open on each of these days (0: Monday) from minute `start` to minute `end`, which may lie on the next day."""

    days: frozenset[int]
    start: int
    end: int


class HoursPeriod(NamedTuple):
    """Open or closed, and until when; None: for ever."""

    is_open: bool
    until: datetime | None


@dataclass(frozen=True)
class OperatingHours:
    """Windows of local time; one that begins or ends in the hour that a clock skips does so when the clock goes on."""

    windows: tuple[HoursWindow, ...]
    zone: tzinfo

    def at(self, now: datetime) -> HoursPeriod:
        """Is it open now, and when does that change?"""
        for start, end in self._openings(now):
            if now < start:
                return HoursPeriod(False, start)
            if now < end:
                return HoursPeriod(True, end if end - now < HORIZON else None)
        return HoursPeriod(False, None)

    def fits(self, now: datetime, seconds: float) -> bool:
        """Is it open now, and for so many seconds from now on?"""
        stretch = self.at(now)
        end = now.astimezone(UTC) + timedelta(seconds=seconds)  # seconds that pass, whatever clocks on walls do
        return stretch.is_open and (stretch.until is None or end <= stretch.until)

    def longest(self, now: datetime) -> timedelta:
        """The longest time it is open without a break, these weeks."""
        return max((end - start for start, end in self._openings(now)), default=timedelta())

    def _openings(self, now: datetime) -> list[tuple[datetime, datetime]]:
        """Without gaps or overlaps, in order, from a week ago to more than a week ahead."""
        merged: list[tuple[datetime, datetime]] = []
        for start, end in sorted(self._spans(now)):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def _spans(self, now: datetime) -> Iterator[tuple[datetime, datetime]]:
        today = now.astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
        for day in (today + timedelta(days=n) for n in range(-HORIZON.days, HORIZON.days + 3)):
            for window in self.windows:
                if day.weekday() in window.days:
                    start, end = (self._moment(day, minutes) for minutes in (window.start, window.end))
                    if start < end:
                        yield start, end

    def _moment(self, day: datetime, minutes: int) -> datetime:
        """By the clock on the wall, not by the time that has passed."""
        return (day + timedelta(minutes=minutes)).replace(tzinfo=self.zone).astimezone(UTC)


def parse_hours(texts: Sequence[str], timezone: str) -> OperatingHours | None:
    """The hours, None when there are none; raise ValueError that says what was expected."""
    zone = parse_zone(timezone)
    return OperatingHours(tuple(parse_window(text) for text in texts), zone) if texts else None


def parse_zone(name: str) -> tzinfo:
    """A time zone by name; UTC is known everywhere."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"there is no time zone {name!r} on this host; names are as Europe/Paris or UTC") from None


def readable_windows(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The same texts; raise ValueError where `parse_hours` would."""
    parse_hours(texts, "UTC")
    return texts


def known_zone(name: str) -> str:
    """The same name; raise ValueError where `parse_zone` would. An empty name is no zone, and no error."""
    if name:
        parse_zone(name)
    return name


def parse_window(text: str) -> HoursWindow:
    """A window as "mon-fri 19:00-07:00", or days or times alone; raise ValueError that says what was expected."""
    window = _WINDOW.fullmatch(text.strip().lower())
    if window is None or not window[0]:
        raise ValueError(f"{text!r} is no window of time: {EXPECTED}")
    days = frozenset(_days(window[1], text)) if window[1] else frozenset(range(7))
    if window[2] is None:
        return HoursWindow(days, 0, MINUTES)
    start, end = _minutes(window[2], window[3], text), _minutes(window[4], window[5], text)
    if start in (end, MINUTES):
        raise ValueError(f"{text!r} is never open; the whole day is 00:00-24:00")
    return HoursWindow(days, start, end if end > start else end + MINUTES)


def _days(words: str, text: str) -> Iterator[int]:
    for part in words.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        for word in (first, last) if dash else (first,):
            if word not in WEEKDAYS:
                raise ValueError(f"{text!r}: {word!r} is no day; days are {', '.join(WEEKDAYS)}")
        begin, end = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
        yield from (day % 7 for day in range(begin, end + 1 if end >= begin else end + 8))


def _minutes(hour: str, minute: str, text: str) -> int:
    minutes = int(hour) * 60 + int(minute)
    if int(minute) > 59 or minutes > MINUTES:
        raise ValueError(f"{text!r}: {hour}:{minute} is no time of day; times are 00:00 to 24:00")
    return minutes
